# The executable in an image without a shell. From a checkout, this compiles it:
#
#   docker build --build-arg GATEHOUSE_COMMIT=$(git rev-parse --short=12 HEAD) .
#
# A release has compiled it already, and unpacked its archives into the folders amd64 and arm64. They
# take the place of the stage that would compile:
#
#   docker buildx build --build-context executable=FOLDER --platform linux/amd64,linux/arm64 .

# Installs packages. What compiles is the Bun of bun.lock, which this one checks by its hash.
ARG INSTALLER=oven/bun:1.4.3@sha256:ec06c3b6cea04192ae6770c434f668ca41d343ad19fa6472216c7b48be39c598

FROM ${INSTALLER} AS executable
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile
COPY . .
ARG GATEHOUSE_COMMIT
ARG TARGETARCH
RUN node_modules/.bin/bun scripts/build.ts && cp LICENSE dist/ && mv dist /${TARGETARCH}

# The image has no shell to make it with, and the stage above may be replaced.
FROM --platform=${BUILDPLATFORM} ${INSTALLER} AS data
RUN mkdir -m 0700 /data

# glibc is all that the executable needs from the system.
FROM gcr.io/distroless/base-nossl-debian13:nonroot@sha256:8c563c1fb5e120606f0d85733049775faed6192e2bd2223ef283a5393eec22b9
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="Identity, scheduler, messenger login and event relay in one self-hosted executable" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="gcr.io/distroless/base-nossl-debian13:nonroot"
ARG TARGETARCH
COPY --from=data --chown=65532:65532 /data /data
COPY --from=executable /${TARGETARCH}/LICENSE /${TARGETARCH}/THIRD-PARTY-NOTICES /${TARGETARCH}/gatehouse.cdx.json /usr/share/doc/gatehouse/
COPY --from=executable --chmod=0755 /${TARGETARCH}/gatehouse /usr/bin/gatehouse
ENV GATEHOUSE_SERVER_HOST=0.0.0.0 \
    GATEHOUSE_DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["/usr/bin/gatehouse", "healthcheck"]
ENTRYPOINT ["/usr/bin/gatehouse"]
CMD ["serve"]
