import type { AlertRow, Severity } from '../../../platform/alerts/index.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { ChannelRow, createChannelStore } from '../channels/store.ts'

/** A channel that is notified of some alerts. */
export interface Listener {
  id: string
  name: string
  hears: (alert: Pick<AlertRow, 'kind' | 'severity'>) => boolean
}

/** The channel of a tenant that has set up none: emails to its owners. */
export const OWNERS: Listener = { id: 'owners', name: 'Owners', hears: () => true }

/** The channels that are notified of a tenant's alerts, or those of the installation for null. */
export function createListeners(parts: {
  channels: ReturnType<typeof createChannelStore>
  mail: Pick<Mail, 'hasServer'>
}) {
  const { channels, mail } = parts

  return (tenantId: string | null): Listener[] => {
    const rows = channels.list(tenantId)
    // Without a mail server, nothing would be sent, so nothing is logged either.
    if (rows.length === 0) return mail.hasServer ? [OWNERS] : []
    return rows.filter(({ isActive }) => isActive).map(listenerOf)
  }
}

function listenerOf({ id, name, kinds, minSeverity }: ChannelRow): Listener {
  const known: string[] | null = kinds === null ? null : JSON.parse(kinds)
  return {
    id,
    name,
    hears: ({ kind, severity }) =>
      (known === null || known.includes(kind)) && isAtLeast(severity, minSeverity),
  }
}

const isAtLeast = (severity: Severity, least: Severity) =>
  severity === 'critical' || least === 'warning'
