import type { Config, Origins } from '../config/index.ts'
import type { Db } from '../db/open.ts'
import type { Delivery } from '../delivery/index.ts'
import type { Clockwork } from '../engines/clockwork/index.ts'
import type { Gate } from '../engines/gate/index.ts'
import type { GateOperators } from '../engines/gate/operators/index.ts'
import type { Notifications } from '../engines/notifications/index.ts'
import type { Passepartout } from '../engines/passepartout/index.ts'
import type { Relay } from '../engines/relay/index.ts'
import type { Manifests } from '../manifest/index.ts'
import type { Alerts } from '../platform/alerts/index.ts'
import type { Audit } from '../platform/audit/index.ts'
import type { Backups } from '../platform/backup/index.ts'
import type { Branding } from '../platform/branding/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { InstallationSettings } from '../platform/installation-settings/index.ts'
import type { Instances } from '../platform/instances.ts'
import type { Keys } from '../platform/keys/index.ts'
import type { Mail } from '../platform/mail/index.ts'
import type { Metering } from '../platform/metering/index.ts'
import type { TenantDeletion } from '../platform/portable/deletion.ts'
import type { TenantDownload } from '../platform/portable/download.ts'
import type { Replication } from '../platform/replication/index.ts'
import type { Tenants } from '../platform/tenants.ts'
import type { TestReceivers } from '../platform/test-receiver/index.ts'
import type { CallerOf } from './callers.ts'
import type { Checklists } from './checklist/index.ts'
import type { createInstanceHealth } from './instance-health.ts'
import type { Layout } from './layout.ts'
import type { LiveAnswers } from './live/answers.ts'
import type { ConsoleMiddleware } from './middleware.ts'
import type { Device } from './operators/entry.ts'
import type { Operators } from './operators/index.ts'
import type { DayCounts } from './pages/home/day-counts.ts'

/** What pages work with. */
export interface Services {
  clockwork: Clockwork
  alerts: Alerts
  audit: Audit
  clock: Clock
  keys: Keys
  metering: Metering
  tenants: Tenants
  tenantDeletion: TenantDeletion
  tenantDownload: TenantDownload
  branding: Branding
  operators: Operators
  gate: Gate
  gateOperators: GateOperators
  passepartout: Passepartout
  notifications: Notifications
  manifests: Manifests
  relay: Relay
  delivery: Delivery
  liveAnswers: LiveAnswers
  db: Db
  mail: Mail
  backups: Backups
  /** As of the start. What admins change in the console is in `installationSettings`. */
  config: Config
  installationSettings: InstallationSettings
  /** Source of each setting; undefined if unknown. */
  origins: Origins | undefined
  instances: Instances
  replication: Pick<Replication, 'pair'>
  testReceivers: TestReceivers
  checklists: Checklists
  instanceHealth: ReturnType<typeof createInstanceHealth>
  dayCounts: DayCounts
  callerOf: CallerOf
  baseUrl: () => string
  deviceOf: (request: Request) => Device
  layout: Layout
  middleware: ConsoleMiddleware
}
