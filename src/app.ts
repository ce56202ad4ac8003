import { type AnyElysia, Elysia } from 'elysia'
import type { Config, Origins } from './config/index.ts'
import { PATHS_OF_PAGES } from './console/addresses.ts'
import { createFlowPages, createSandboxPages } from './console/engine-pages.ts'
import { challengeOn, createErrorPages } from './console/error-pages.ts'
import { createConsole } from './console/index.ts'
import { createInstallationAlerts } from './console/installation-alerts.ts'
import { createInstallationApi } from './console/installation-api/index.ts'
import { createInstanceHealth } from './console/instance-health.ts'
import { createLayout } from './console/layout.ts'
import { createLive } from './console/live/index.ts'
import { createOperators } from './console/operators/index.ts'
import { SESSION_COOKIE } from './console/operators/session-cookie.ts'
import { PORTABLE } from './console/portable-tables.ts'
import { createSessionAccess } from './console/session-access.ts'
import { late } from './db/statements.ts'
import { createDelivery } from './delivery/index.ts'
import type { OperationalEvent } from './delivery/operational.ts'
import { createClockwork } from './engines/clockwork/index.ts'
import { eventOf } from './engines/clockwork/monitors/events.ts'
import { createGate } from './engines/gate/index.ts'
import { webhookPolicy } from './engines/gate/webhooks/policy.ts'
import { createNotifications } from './engines/notifications/index.ts'
import { createPassepartout } from './engines/passepartout/index.ts'
import { relayPolicy } from './engines/relay/delivery-policy.ts'
import { createRelay } from './engines/relay/index.ts'
import { createAccess, createKeyAccess } from './http/access.ts'
import type { ApiDocument } from './http/api-document.ts'
import { brandingFiles } from './http/branding-files.ts'
import { createClientAddress } from './http/client-address.ts'
import { createHealth } from './http/health.ts'
import { createHttpMetrics } from './http/http-metrics.ts'
import { createMiddleware } from './http/middleware.ts'
import { createRequestContexts } from './http/request-context.ts'
import { createServed } from './http/served.ts'
import { createTurns } from './http/turns.ts'
import { baseUrlOf } from './http/urls.ts'
import { createManifests } from './manifest/index.ts'
import { createRoutes as createManifestRoutes } from './manifest/routes.ts'
import { sectionsOf } from './manifest/sections/index.ts'
import { createBackups } from './platform/backup/index.ts'
import { createInstallationSettings } from './platform/installation-settings/index.ts'
import { createMail } from './platform/mail/index.ts'
import type { Platform } from './platform/platform.ts'
import { createTenantDeletion } from './platform/portable/deletion.ts'
import { createReplication } from './platform/replication/index.ts'
import { createStorageWatch } from './platform/storage-watch.ts'
import { openSystemTenant } from './platform/system-tenant.ts'
import { createUpdateCheck } from './platform/updates.ts'
import { VERSION } from './platform/version.ts'

export type Gatehouse = ReturnType<typeof createApp>

/** Creates every route and background loop. `origins` says where each setting comes from. */
export function createApp(
  platform: Platform,
  config: Config,
  { origins }: { origins?: Origins } = {},
) {
  const { db, clock, log, metrics, metering, keys, tenants, instances, retention, siblings } =
    platform
  const storageWatch = createStorageWatch(platform)
  const contexts = createRequestContexts({
    clock,
    metering,
    siblings,
    perMinute: config.limits.requestsPerMinute,
  })
  const { maxBodyBytes: maxBody } = config.server
  const turns = createTurns()
  const access = createAccess({ keys, contexts, turns, addressOf, maxBody })
  const keyAccess = createKeyAccess({ keys, contexts, turns, maxBody })
  const health = createHealth({ db, metrics, siblings, metricsEnabled: config.metrics.enabled })
  retention.add(platform.audit.retention(config.retention.auditMs), platform.alerts.retention)
  retention.add(...metering.retention(config.retention.usageMs), platform.testReceivers.retention)
  const clockwork = createClockwork(platform, config, {
    baseUrl,
    addressOf,
    maxBody,
    onTransition: (monitor, from, to, now) => {
      const event = eventOf(monitor, from, to, now)
      const { tenantId, id } = monitor
      if (event) relay.messages.announce({ ...event, tenantId, about: `monitor:${id}` })
    },
    tell,
  })
  const policies = {
    relay: relayPolicy(config.relay, platform.random),
    gate: webhookPolicy(config.gate, platform.random),
  }
  const delivery = createDelivery(platform, config, policies, tell)
  const relay = createRelay(platform, delivery, config, { access, baseUrl })
  const backups = createBackups({ ...platform, settings: config.backup, objectStorage: config.s3 })
  retention.add(backups.retention)
  let knownBaseUrl: string | undefined
  const installationSettings = createInstallationSettings({ ...platform, config })
  const { current } = installationSettings
  const mail = createMail({ ...platform, config, settings: () => current().mail })
  retention.add(...mail.retention)
  const clientAddress = createClientAddress(config.server.trustedProxies)
  const web = { baseUrl, addressOf, adminSessionOf, pages: createFlowPages() }
  const gate = createGate(platform, { delivery, mail, current }, config, access, web, {
    onSignUp: (operator) => operators.signUp.welcome(operator),
    onVerified: (operator) => operators.signUp.welcome(operator),
  })
  const operators = createOperators({
    ...platform,
    mail,
    gate,
    baseUrl,
    signUp: { isOpen: config.console.signup === 'open', plan: config.console.signupPlan },
    perMinute: config.limits.requestsPerMinute,
  })
  retention.add(operators.retention)
  const live = createLive(platform)
  storageWatch.onLoss(live.end)
  const layout = createLayout({ baseUrl, nearnessOf: metering.nearnessOf })
  const sessionAccess = createSessionAccess({
    engine: 'clockwork',
    currentOperator: operators.currentOperator,
    tenants,
    baseUrl,
    addressOf,
    startAging: contexts.startAging,
    turns,
    maxBody,
  })
  const passepartout = createPassepartout(platform, config, access, {
    baseUrl,
    pages: createSandboxPages(),
  })
  const notifications = createNotifications(platform, {
    mail,
    recipients: operators.recipients,
    sendByBot: passepartout.sendByBot,
    baseUrl,
    access,
  })
  const manifests = createManifests({
    db,
    sections: sectionsOf(platform, { clockwork, delivery, relay, gate, notifications }),
  })
  const replication = createReplication({ ...platform, config })
  const instanceHealth = createInstanceHealth({
    ...platform,
    replication,
    backups,
    mail,
    clockwork,
    delivery,
    installationSettings,
    config,
  })
  const installationAlerts = createInstallationAlerts({ ...platform, instanceHealth })
  storageWatch.onReturn(installationAlerts.wasLost)
  replication.onResume(installationAlerts.wasStalled)
  const { feed } = config.updates
  const updateCheck = createUpdateCheck({ ...platform, feed, version: VERSION })
  const tenantDeletion = createTenantDeletion({ ...platform, portable: PORTABLE })
  retention.add(tenantDeletion.rule)
  const installationRoutes = createInstallationApi({
    ...platform,
    manifests,
    tenantDeletion,
    operators,
    gateOperators: gate.gateOperators,
    defaultPlan: config.metering.defaultPlan,
    access: keyAccess,
  })
  const document = late(async (): Promise<ApiDocument> => {
    const { describeApi } = await import('./http/openapi.ts')
    return describeApi(routes, baseUrl(), SESSION_COOKIE)
  })
  const httpMetrics = createHttpMetrics(metrics)

  /** An app without routes. */
  function newApp() {
    const app: AnyElysia = new Elysia({
      normalize: false,
      strictPath: true,
      handler: { standardHostname: false },
    })
    const middleware = createMiddleware({
      log,
      metrics: httpMetrics,
      addressOf,
      contexts,
      noteError: db.noteError,
      routes: () => app,
      challengeOn,
      errorPage: createErrorPages({ layout }),
    })
    return app.use(middleware)
  }

  const routes = newApp()
    .use(health.routes)
    .use(brandingFiles(platform))
    .use(createConsole({ document, base: layout.base }))
    .use(gate.routes)
    .use(clockwork.routes({ prefix: '/v1/clockwork', access: keyAccess }))
    .use(clockwork.routes({ prefix: '/dashboard/clockwork', access: sessionAccess }))
    .use(clockwork.publicRoutes[0])
    .use(clockwork.publicRoutes[1])
    .use(passepartout.routes)
    .use(relay.routes)
    .use(notifications.routes)
    .use(createManifestRoutes({ manifests, clock, access, siblings }))
    .use(installationRoutes)

  const app = createServed(routes, { paths: PATHS_OF_PAGES, load: loadPages })

  async function loadPages() {
    const { consolePages } = await import('./console/routes.ts')
    return newApp().use(
      consolePages({
        platform,
        delivery,
        gate,
        clockwork,
        passepartout,
        notifications,
        manifests,
        relay,
        operators,
        tenantDeletion,
        layout,
        live,
        baseUrl,
        addressOf,
        turns,
        maxBody,
        config,
        installationSettings,
        instanceHealth,
        origins,
        backups,
        mail,
        replication,
      }),
    )
  }

  function tell(event: OperationalEvent) {
    relay.tell(event)
  }

  function addressOf(request: Request): string | undefined {
    return clientAddress(request, app.server)
  }

  function adminSessionOf(request: Request): string | undefined {
    const operator = operators.currentOperator.ifAny(request)
    return operator?.isAdmin ? operator.sessionId : undefined
  }

  /** Known once the server listens, because the system may choose the port. */
  function baseUrl(): string {
    if (knownBaseUrl !== undefined) return knownBaseUrl
    const url = baseUrlOf({ ...config.server, port: app.server?.port ?? config.server.port })
    if (app.server) knownBaseUrl = url
    return url
  }

  /**
   * Starts the background loops. With `isPaused`, the server accepts every request, but runs
   * nothing by itself: no jobs, deliveries, emails, bots, backups or deletion of expired data.
   */
  async function start({ isPaused = false } = {}) {
    await openSystemTenant({ db, clock })
    await instances.start()
    storageWatch.start()
    if (!isPaused) startWork()
    health.open()
  }

  function startWork() {
    retention.start()
    gate.search.start()
    backups.start()
    clockwork.loop.start()
    delivery.start()
    passepartout.start()
    mail.start()
    notifications.start()
    installationAlerts.start()
    updateCheck.start()
  }

  /** Stops claiming work and gives the work in progress `graceMs` to finish. */
  async function stop(graceMs: number) {
    live.stop()
    installationAlerts.stop()
    updateCheck.stop()
    await Promise.all([
      clockwork.loop.stop(graceMs),
      delivery.stop(graceMs),
      passepartout.stop(graceMs),
      mail.stop(graceMs),
      notifications.stop(graceMs),
      backups.stop(graceMs),
    ])
    retention.stop()
    gate.search.stop()
    storageWatch.stop()
    platform.outbound.end()
    await instances.stop()
    await db.drain()
  }

  return {
    app,
    backups,
    clockwork,
    delivery,
    gate,
    installationAlerts,
    installationSettings,
    live,
    mail,
    manifests,
    notifications,
    operators,
    passepartout,
    replication,
    updateCheck,
    start,
    stop,
    drain: health.drain,
  }
}
