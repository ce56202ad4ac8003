import { MUTES, type Notifications } from '../engines/notifications/index.ts'
import type { AlertState } from '../platform/alerts/index.ts'
import { type Command, oneOf, table } from './command.ts'
import { OWNER, withNotifications } from './notifications.ts'

const STATES = ['open', 'resolved'] as const
const PAGE = 100

export const alertList: Command = {
  name: 'alert list',
  summary: 'List open alerts, or those that were resolved in the last 90 days.',
  options: {
    ...OWNER,
    state: { type: 'string', value: 'STATE', help: 'open (the default) or resolved.' },
  },
  run: ({ config, io, options }) => {
    const state = oneOf(STATES, 'state', options.state ?? 'open')
    return withNotifications({ config, io, options }, ({ lists }, owner) => {
      const list = all(lists, owner, state)
      const head = ['ID', 'SEVERITY', 'OPENED', 'COUNT', 'MUTED', 'ALERT', 'REASON']
      const rows = list.map((alert) => [
        ...[alert.id, alert.severity, alert.opened_at, `${alert.count}`],
        alert.muted ? (alert.muted_until ?? 'yes') : '-',
        ...[alert.title, alert.text],
      ])
      const text = list.length === 0 ? `No ${state} alerts.` : table([head, ...rows])
      return { json: { alerts: list }, text }
    })
  },
}

export const alertMute: Command = {
  name: 'alert mute',
  summary: 'Send no messages about an alert for some time, or until you unmute it.',
  positionals: ['ID'],
  options: {
    ...OWNER,
    for: { type: 'string', value: 'TIME', help: `${MUTES.join(', ')}. Default: until unmuted.` },
  },
  run: ({ config, io, options, args }) => {
    const duration = options.for === undefined ? undefined : oneOf(MUTES, 'for', options.for)
    return withNotifications({ config, io, options }, async ({ lists, muting }, owner, actor) => {
      const alert = lists.presentedAlert(await muting.mute(owner, actor, args[0] ?? '', duration))
      const until = alert.muted_until === null ? 'you unmute it' : alert.muted_until
      return { json: alert, text: `Muted until ${until}: ${alert.title}.` }
    })
  },
}

export const alertUnmute: Command = {
  name: 'alert unmute',
  summary: 'Send messages about an alert again.',
  positionals: ['ID'],
  options: OWNER,
  run: ({ config, io, options, args }) =>
    withNotifications({ config, io, options }, async ({ lists, muting }, owner, actor) => {
      const alert = lists.presentedAlert(await muting.unmute(owner, actor, args[0] ?? ''))
      return { json: alert, text: `Unmuted: ${alert.title}.` }
    }),
}

/** All alerts in a state, the last opened first. */
function all({ alerts }: Notifications['lists'], owner: string | null, state: AlertState) {
  const list: ReturnType<typeof alerts>['data'] = []
  for (let cursor: string | undefined; ; ) {
    const { data, next_cursor: next } = alerts(owner, { state, cursor, limit: PAGE })
    list.push(...data)
    if (next === null) return list
    cursor = next
  }
}
