import { Elysia } from 'elysia'
import type { Config } from './config/index.ts'
import { createFlowPages } from './console/flow-pages.ts'
import { createConsole } from './console/index.ts'
import { createSandboxPages } from './console/sandbox-pages.ts'
import { createDelivery } from './delivery/index.ts'
import { createClockwork } from './engines/clockwork/index.ts'
import { createGate } from './engines/gate/index.ts'
import { createPassepartout } from './engines/passepartout/index.ts'
import { createRelay } from './engines/relay/index.ts'
import { createAccess } from './http/access.ts'
import { createClientAddress } from './http/client-address.ts'
import { createHealth } from './http/health.ts'
import { createHttpMetrics } from './http/http-metrics.ts'
import { createKit } from './http/kit.ts'
import { createApiDocument } from './http/openapi.ts'
import { baseUrlOf } from './http/urls.ts'
import { createMail } from './platform/mail/index.ts'
import type { Platform } from './platform/platform.ts'

export type Gatehouse = ReturnType<typeof createApp>

/**
 * The map of every route, and what runs beside them. With `precompile` all routes are built
 * at once, at start, and not each at its first request.
 */
export function createApp(platform: Platform, config: Config, { precompile = false } = {}) {
  const { db, log, metrics, keys, instances, retention } = platform
  const access = createAccess({ keys, maxBody: config.server.maxBodyBytes })
  const health = createHealth({ db, metrics, metricsEnabled: config.metrics.enabled })
  retention.add(platform.audit.retention(config.retention.auditMs))
  const clockwork = createClockwork(platform, config, access)
  const delivery = createDelivery(platform, config)
  const relay = createRelay(platform, delivery, config, access)
  let knownBaseUrl: string | undefined
  const mail = createMail({ ...platform, config })
  retention.add(...mail.retention)
  const clientAddress = createClientAddress(config.server.trustedProxies)
  const gate = createGate(platform, { delivery, mail }, config, access, {
    baseUrl,
    addressOf: (request) => clientAddress(request, app.server),
    pages: createFlowPages(),
  })
  const passepartout = createPassepartout(platform, config, access, {
    baseUrl,
    pages: createSandboxPages(),
  })
  const document = createApiDocument(() => app, baseUrl)
  const kit = createKit({
    log,
    metrics: createHttpMetrics(metrics),
    clientAddress,
    routes: () => app,
  })

  const app = new Elysia({ normalize: false, precompile, handler: { standardHostname: false } })
    .use(kit)
    .use(health.routes)
    .use(createConsole(document))
    .use(gate.routes)
    .use(clockwork.routes)
    .use(passepartout.routes)
    .use(relay.routes)

  /** With the port in use, which the system may have chosen: known once the server listens. */
  function baseUrl(): string {
    if (knownBaseUrl !== undefined) return knownBaseUrl
    const url = baseUrlOf({ ...config.server, port: app.server?.port ?? config.server.port })
    if (app.server) knownBaseUrl = url
    return url
  }

  async function start() {
    await instances.start()
    retention.start()
    clockwork.loop.start()
    delivery.start()
    passepartout.start()
    await mail.start()
    health.open()
  }

  /** Claims nothing more; what is under way gets `graceMs` to end. */
  async function stop(graceMs: number) {
    await Promise.all([
      clockwork.loop.stop(graceMs),
      delivery.stop(graceMs),
      passepartout.stop(graceMs),
      mail.stop(graceMs),
    ])
    retention.stop()
    await instances.stop()
    await db.drain()
  }

  return { app, clockwork, delivery, gate, mail, passepartout, start, stop, drain: health.drain }
}
