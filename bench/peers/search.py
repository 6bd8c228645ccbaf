"""FAISS: Flat with and without BLAS, SQ8, HNSW32.

A request {"open": FILE, "dims": D, "threads": N} maps fp32 vectors, rows after
rows. {"index": NAME} builds flat, sq8 or hnsw and says how long that took.
{"search": NAME, "queries": FILE, "k": K, "repeat": R} searches with all queries
of FILE at once, or with "single" one at a time; for flat with "blas": true or
false, for hnsw with "ef"."""

import faiss
import numpy as np

from peer import serve, timed

vectors = None
indexes = {}
NEVER = 1 << 30


def handle(request):
    global vectors
    if "open" in request:
        faiss.omp_set_num_threads(request["threads"])
        vectors = np.fromfile(request["open"], dtype=np.float32).reshape(-1, request["dims"])
        indexes.clear()
        return {"rows": len(vectors), "version": faiss.__version__}
    if "index" in request:
        return build(request["index"])
    if "drop" in request:
        indexes.pop(request["drop"], None)
        return {}
    return search(request)


def build(name):
    dims = vectors.shape[1]
    if name == "flat":
        index = faiss.IndexFlatIP(dims)
    elif name == "sq8":
        index = faiss.IndexScalarQuantizer(dims, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors[:: max(1, len(vectors) // 100_000)])
    elif name == "hnsw":
        index = faiss.IndexHNSWFlat(dims, 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 100
    else:
        raise ValueError(f"no index is named {name}")
    took, _ = timed(lambda: index.add(vectors), 1)
    indexes[name] = index
    return {"ms": took}


def search(request):
    index = indexes[request["search"]]
    queries = np.fromfile(request["queries"], dtype=np.float32).reshape(-1, vectors.shape[1])
    queries = queries[request.get("from", 0) :][: request.get("count", len(queries))]
    if "blas" in request:
        # FAISS decides by the number of queries; a threshold forces it.
        faiss.cvar.distance_compute_blas_threshold = 0 if request["blas"] else NEVER
    if "ef" in request:
        index.hnsw.efSearch = request["ef"]
    if request.get("single"):
        search_all = lambda: one_by_one(index, queries, request["k"])
    else:
        search_all = lambda: index.search(queries, request["k"])
    took, (scores, rows) = timed(search_all, request["repeat"])
    return {"ms": took, "rows": rows.tolist(), "scores": scores.tolist()}


def one_by_one(index, queries, k):
    """As questions come: one query at a time."""
    found = [index.search(query[None], k) for query in queries]
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


serve(handle)
