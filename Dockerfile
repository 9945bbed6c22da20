# bayesfloor with its kernels compiled, so that the first report starts as fast as the second:
#
#     docker build --tag bayesfloor .
#     docker run --rm --volume "$PWD":/data bayesfloor report data.csv --target label
#
# Kernels are compiled for the processor that builds the image. On another kind they are compiled again, once.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/bayesfloor \
    && /opt/bayesfloor/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: '.[plot]'

FROM python:${PYTHON}-slim
LABEL org.opencontainers.image.title="bayesfloor" \
      org.opencontainers.image.description="How low can the error of any classifier go on your data?" \
      org.opencontainers.image.licenses="BSD-3-Clause"
RUN useradd --create-home --user-group --uid 1000 bayesfloor \
    && install --directory --owner=bayesfloor /data /var/cache/bayesfloor
COPY --from=build /opt/bayesfloor /opt/bayesfloor
ENV PATH=/opt/bayesfloor/bin:$PATH \
    NUMBA_CACHE_DIR=/var/cache/bayesfloor \
    PYTHONDONTWRITEBYTECODE=1
USER 1000:1000
RUN python -m bayesfloor warmup
WORKDIR /data
ENTRYPOINT ["bayesfloor"]
CMD ["--help"]
