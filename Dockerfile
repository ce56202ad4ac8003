# Compiles Gatehouse and puts the one file into an image without a shell.
FROM oven/bun:1.4.5 AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production
COPY . .
# docker build --build-arg GATEHOUSE_COMMIT=$(git rev-parse --short=12 HEAD) .
ARG GATEHOUSE_COMMIT
RUN bun run build && mkdir -m 0700 /data

# glibc is all that the executable needs from the system.
FROM gcr.io/distroless/base-nossl-debian12:nonroot
COPY --from=build /build/dist/gatehouse /usr/bin/gatehouse
COPY --from=build --chown=65532:65532 /data /data
ENV GATEHOUSE_SERVER_HOST=0.0.0.0 \
    GATEHOUSE_DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["/usr/bin/gatehouse", "healthcheck"]
ENTRYPOINT ["/usr/bin/gatehouse"]
CMD ["serve"]
