# An image with the `rocelab` command: docker build --tag rocelab . && docker run --rm -v "$PWD":/data rocelab run incast
# Not built by the tests: they have no Docker.

FROM rust:1-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /build \
    && /build/bin/python tools/third_party.py python/rocelab/THIRD-PARTY-LICENSES.txt \
    && /build/bin/python -m pip wheel --no-deps --wheel-dir /wheels .

FROM python:3.11-slim-bookworm
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[report,tune]" && rm -rf /wheels
RUN useradd --create-home user
USER user
WORKDIR /data
ENTRYPOINT ["rocelab"]
CMD ["--help"]
