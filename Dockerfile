# The executable in an image without a shell. From a checkout, this compiles it:
#
#   docker build --build-arg GATEHOUSE_COMMIT=$(git rev-parse --short=12 HEAD) .
#
# A release has compiled them already, gatehouse-amd64 and gatehouse-arm64, and puts their folder
# in the place of the stage that would:
#
#   docker buildx build --build-context executable=FOLDER --platform linux/amd64,linux/arm64 .
ARG BUN_VERSION=1.4.5

FROM oven/bun:${BUN_VERSION} AS executable
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production
COPY . .
ARG GATEHOUSE_COMMIT
ARG TARGETARCH
RUN bun run build && mv dist/gatehouse /gatehouse-${TARGETARCH}

# The image has no shell to make it with, and the stage above may be replaced.
FROM --platform=${BUILDPLATFORM} oven/bun:${BUN_VERSION} AS data
RUN mkdir -m 0700 /data

# glibc is all that the executable needs from the system.
FROM gcr.io/distroless/base-nossl-debian13:nonroot
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="Identity, scheduler, messenger login and event relay in one self-hosted executable" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="gcr.io/distroless/base-nossl-debian13:nonroot"
ARG TARGETARCH
COPY --from=data --chown=65532:65532 /data /data
COPY --from=executable --chmod=0755 /gatehouse-${TARGETARCH} /usr/bin/gatehouse
ENV GATEHOUSE_SERVER_HOST=0.0.0.0 \
    GATEHOUSE_DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["/usr/bin/gatehouse", "healthcheck"]
ENTRYPOINT ["/usr/bin/gatehouse"]
CMD ["serve"]
