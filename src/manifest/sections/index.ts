import type { Delivery } from '../../delivery/index.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { Gate } from '../../engines/gate/index.ts'
import type { Notifications } from '../../engines/notifications/index.ts'
import type { Relay } from '../../engines/relay/index.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Section } from '../section.ts'
import { channelsSection } from './channels.ts'
import { endpointsSection } from './endpoints.ts'
import { gateSections } from './gate-settings.ts'
import { jobsSection } from './jobs.ts'
import { keysSection } from './keys.ts'
import { monitorsSection } from './monitors.ts'
import { tenantSection } from './tenant.ts'
import { userWebhooksSection } from './user-webhooks.ts'

/** Everything that a manifest can have, in its order. */
export const sectionsOf = (
  platform: Platform,
  engines: {
    clockwork: Clockwork
    delivery: Delivery
    relay: Relay
    gate: Gate
    notifications: Notifications
  },
): Section[] => {
  const { clockwork, delivery, relay, gate, notifications } = engines
  return [
    tenantSection(platform.tenants),
    jobsSection(clockwork.jobs),
    monitorsSection(clockwork.monitors),
    endpointsSection(relay.endpoints, delivery),
    channelsSection(notifications.channels),
    ...gateSections(gate),
    userWebhooksSection(gate.webhooks, delivery),
    keysSection(platform),
  ]
}
