"""onnxruntime: the same model as the engine's, one single-threaded session per
core, texts of like length together over the whole call; ids by tokenizers.

A request {"open": MODEL, "vocabulary": FILE, "threads": N} loads the model.
{"encode": FILE, "batch": B, "repeat": R} encodes the texts of FILE, one a line,
and says how long each turn took; with "vectors": FILE it writes fp32 vectors,
rows after rows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort
from tokenizers import BertWordPieceTokenizer

from peer import serve, timed

sessions = []
tokenizer = None


def handle(request):
    if "open" in request:
        return load(request)
    with open(request["encode"], encoding="utf-8") as f:
        texts = f.read().removesuffix("\n").split("\n")
    took, vectors = timed(lambda: encode(texts, request["batch"]), request["repeat"])
    if "vectors" in request:
        vectors.tofile(request["vectors"])
    return {"ms": took, "texts": len(texts)}


def load(request):
    global tokenizer
    tokenizer = BertWordPieceTokenizer(request["vocabulary"], lowercase=True)
    tokenizer.enable_truncation(256)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    sessions.clear()
    for _ in range(request["threads"]):
        sessions.append(ort.InferenceSession(request["open"], options, providers=["CPUExecutionProvider"]))
    return {"version": ort.__version__}


def encode(texts, size):
    ids = [e.ids for e in tokenizer.encode_batch(texts)]
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    batches = [order[i : i + size] for i in range(0, len(order), size)]
    vectors = np.zeros((len(texts), sessions[0].get_outputs()[0].shape[-1]), np.float32)
    with ThreadPoolExecutor(len(sessions)) as pool:
        turns = [pool.submit(encode_batches, s, batches[i :: len(sessions)], ids, vectors) for i, s in enumerate(sessions)]
    for turn in turns:
        turn.result()
    return vectors


def encode_batches(session, batches, ids, vectors):
    names = [i.name for i in session.get_inputs()]
    for batch in batches:
        width = max(len(ids[i]) for i in batch)
        tokens = np.zeros((len(batch), width), np.int64)
        mask = np.zeros_like(tokens)
        for row, i in enumerate(batch):
            tokens[row, : len(ids[i])] = ids[i]
            mask[row, : len(ids[i])] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden = session.run(["last_hidden_state"], {n: given[n] for n in names})[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        vectors[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)


serve(handle)
