"""A build backend that builds nothing.

pip asks a source distribution for its metadata before it will hand it over.
The package's own backend would fetch build tools and run the package's code
for that; this one answers with what the file name says already.
"""
import os


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    name, version = os.environ["TRIPLEMESH_SDIST"].split("==")
    folder = "%s-%s.dist-info" % (name.replace("-", "_"), version)
    os.mkdir(os.path.join(directory, folder))
    with open(os.path.join(directory, folder, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
    return folder
