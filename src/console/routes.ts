import type { AnyElysia } from 'elysia'
import type { Config, Origins } from '../config/index.ts'
import type { Delivery } from '../delivery/index.ts'
import type { Clockwork } from '../engines/clockwork/index.ts'
import type { Gate } from '../engines/gate/index.ts'
import type { Notifications } from '../engines/notifications/index.ts'
import type { Passepartout } from '../engines/passepartout/index.ts'
import type { Relay } from '../engines/relay/index.ts'
import type { Turns } from '../http/turns.ts'
import type { Manifests } from '../manifest/index.ts'
import type { Backups } from '../platform/backup/index.ts'
import type { InstallationSettings } from '../platform/installation-settings/index.ts'
import type { Mail } from '../platform/mail/index.ts'
import type { Platform } from '../platform/platform.ts'
import type { TenantDeletion } from '../platform/portable/deletion.ts'
import { createTenantDownload } from '../platform/portable/download.ts'
import type { Replication } from '../platform/replication/index.ts'
import { createAddresses } from './addresses.ts'
import { createCallers } from './callers.ts'
import { createChecklists } from './checklist/index.ts'
import type { createInstanceHealth } from './instance-health.ts'
import type { Layout } from './layout.ts'
import { createLiveAnswers } from './live/answers.ts'
import type { Live } from './live/index.ts'
import { createConsoleMiddleware } from './middleware.ts'
import type { Device } from './operators/entry.ts'
import type { Operators } from './operators/index.ts'
import { createDayCounts } from './pages/home/day-counts.ts'
import { PAGES } from './pages/index.ts'
import { PORTABLE_TABLES, SCHEMAS } from './portable-tables.ts'
import { createPages } from './serve-pages.tsx'
import { sessionRoutes } from './session-routes.tsx'
import { shortAddresses } from './short-addresses.ts'

/** Every page of the console. Its routes are untyped outside: all of them together exceed the compiler's limits. */
export function consolePages(parts: {
  platform: Platform
  delivery: Delivery
  gate: Gate
  clockwork: Clockwork
  passepartout: Passepartout
  notifications: Notifications
  manifests: Manifests
  relay: Relay
  operators: Operators
  tenantDeletion: TenantDeletion
  layout: Layout
  live: Live
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  turns: Turns
  maxBody: number
  /** The effective configuration. */
  config: Config
  installationSettings: InstallationSettings
  instanceHealth: ReturnType<typeof createInstanceHealth>
  /** Source of each setting; undefined if unknown. */
  origins: Origins | undefined
  backups: Backups
  mail: Mail
  replication: Pick<Replication, 'pair'>
}): AnyElysia[] {
  const { platform, gate, operators, addressOf } = parts
  const middleware = createConsoleMiddleware({
    ...parts,
    currentOperator: operators.currentOperator,
  })
  const common = {
    ...platform,
    ...parts,
    middleware,
    gateOperators: gate.gateOperators,
    callerOf: createCallers(platform),
    liveAnswers: createLiveAnswers({ ...parts, currentOperator: operators.currentOperator }),
  }
  const tenantDownload = createTenantDownload({
    ...platform,
    tables: PORTABLE_TABLES,
    schema: SCHEMAS.at(-1) ?? '',
    keyPrefix: parts.config.brand.prefix,
  })
  const deviceOf = (request: Request): Device => ({
    ipAddress: addressOf(request) ?? null,
    userAgent: request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  })

  const addresses = createAddresses(PAGES)
  const services = {
    ...common,
    tenantDownload,
    deviceOf,
    dayCounts: createDayCounts(common),
    checklists: createChecklists(platform),
  }

  return [
    sessionRoutes(services),
    createPages(services, addresses, PAGES),
    shortAddresses(services, addresses, PAGES),
  ]
}

const MAX_USER_AGENT_LENGTH = 512
