import { Confirm } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { type Event, Events } from '../../../../views/ui/events.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { Alert, LogEntry, Mute } from '../../../engines/notifications/index.ts'
import { MUTES } from '../../../engines/notifications/index.ts'
import { trimmedText } from '../../form.ts'
import { useList } from '../../list.tsx'
import { good, type OperatorPageContext, page, usePage } from '../../page.tsx'

const PATH = '/alerts'
const ROWS = 50
const LOG_ROWS = 20

interface AlertsView {
  alerts: readonly Alert[]
  next: string | null
  state: 'open' | 'resolved'
  openCount: number
  log: readonly LogEntry[]
  channelsHref: string
  mayMute: boolean
  /** Names of the page's actions, which must differ between pages of one path. */
  actions: { mute: string; unmute: string }
}

function alertsOf(
  context: OperatorPageContext,
  tenantId: string | null,
  of: Pick<AlertsView, 'mayMute' | 'actions'> & { channelsPath: string },
): AlertsView {
  const { notifications, position, query, href, alerts } = context
  const state = query.state === 'resolved' ? 'resolved' : 'open'
  const { lists } = notifications
  const { data, next_cursor: next } = lists.alerts(tenantId, {
    state,
    cursor: position.cursor,
    limit: ROWS,
  })
  return {
    alerts: data,
    next,
    state,
    openCount: alerts.openCount(tenantId, MAX_COUNTED),
    log: lists.log(tenantId, { limit: LOG_ROWS }).data,
    channelsHref: href(of.channelsPath),
    mayMute: of.mayMute,
    actions: of.actions,
  }
}

const MAX_COUNTED = 1001

function View(view: AlertsView) {
  const { alerts, openCount, state, channelsHref } = view
  const { hrefOf, pagesTo } = useList()
  const tab = (label: string, value: 'open' | 'resolved', count?: number) => ({
    label,
    href: hrefOf({ state: value === 'open' ? undefined : value }),
    isCurrent: state === value,
    ...(count !== undefined && { count }),
    ...(count && { tone: 'bad' as const }),
  })
  const { olderHref, newerHref } = pagesTo(view.next)
  return (
    <>
      <PageHead
        title="Alerts"
        state={
          openCount === 0
            ? { tone: 'good', sentence: 'No problems' }
            : { tone: 'bad', sentence: `${counted(openCount, 'open alert')}` }
        }
        aside={<a href={channelsHref}>Notification settings</a>}
      />
      <FilterChips
        label="Status"
        tabs={[tab('Open', 'open', openCount), tab('Resolved', 'resolved')]}
      />
      <Section id="list" title={state === 'open' ? 'Open' : 'Resolved'} isCard>
        {alerts.length === 0 ? (
          <EmptyState
            icon="alerts"
            sentence={state === 'open' ? 'No problems' : 'No resolved alerts'}
            next="Failing jobs, webhooks and bots appear here. Resolved alerts are kept for 90 days."
          />
        ) : (
          <Events label="Alerts" events={alerts.map((alert) => eventOf(alert, view))} />
        )}
        <div class="actions">
          {newerHref && <a href={newerHref}>Newer</a>}
          {olderHref && <a href={olderHref}>Older</a>}
        </div>
      </Section>
      {view.log.length > 0 && (
        <Section id="log" title="Notifications" note="The latest 20. The API has those of 90 days.">
          <DataTable caption="Notifications, newest first" columns={LOG_COLUMNS} rows={view.log} />
        </Section>
      )}
    </>
  )
}

function eventOf(
  alert: Alert,
  { mayMute, actions }: Pick<AlertsView, 'mayMute' | 'actions'>,
): Event {
  const { subject, count, state } = alert
  const opened = Date.parse(alert.opened_at)
  return {
    tone: state === 'resolved' ? 'good' : alert.severity === 'critical' ? 'bad' : 'warn',
    title: (
      <>
        <a href={alert.url}>
          <Text text={alert.title} limit={120} />
        </a>
      </>
    ),
    text: (
      <>
        <Text text={alert.text} limit={300} />{' '}
        {count === 1 ? 'Opened' : `${counted(count, 'time')} since`} <Time at={opened} />
        {alert.resolved_at !== null && (
          <>
            , ended <Time at={Date.parse(alert.resolved_at)} />
          </>
        )}
        .{alert.muted && <MutedWords until={alert.muted_until} />}
      </>
    ),
    aside: mayMute && (alert.muted || state === 'open') && (
      <Muting id={alert.id} name={subject.name} isMuted={alert.muted} actions={actions} />
    ),
  }
}

const MutedWords = ({ until }: { until: string | null }) => {
  const times = useTimes()
  return (
    <>
      {' '}
      Muted {until === null ? 'until you unmute it' : `until ${times.minute(Date.parse(until))}`}.
    </>
  )
}

const DURATION_WORDS: Record<Mute, string> = { '1h': '1 hour', '1d': '1 day', '1w': '1 week' }

function Muting(of: Pick<AlertsView, 'actions'> & { id: string; name: string; isMuted: boolean }) {
  const { id, name, isMuted, actions } = of
  const { actionHref } = usePage()
  if (isMuted)
    return (
      <ActionButton isSmall action={actionHref(actions.unmute)} fields={{ id }} of={name}>
        Unmute
      </ActionButton>
    )
  return (
    <Confirm
      id={`mute-${id}`}
      verb="Mute"
      of={name}
      question="Mute this alert?"
      consequence="Nothing is sent about it meanwhile. It stays in the list."
      action={actionHref(actions.mute)}
      fields={{ id }}
      isHarmless
      isSmall
    >
      <Select
        name="for"
        label="For"
        value="1h"
        options={[
          ...MUTES.map((value) => ({ value, label: DURATION_WORDS[value] })),
          { value: '', label: 'Until you unmute it' },
        ]}
      />
    </Confirm>
  )
}

const TONES = { pending: 'busy', sent: 'good', failed: 'bad' } as const

const LOG_COLUMNS: Column<LogEntry>[] = [
  { label: 'Alert', isWide: true, cell: ({ title }) => <Text text={title} limit={80} /> },
  { label: 'Channel', cell: ({ channel_name }) => <Text text={channel_name} limit={40} /> },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status, error }) => (
      <>
        <StatusBadge tone={TONES[status]} word={status === 'pending' ? 'queued' : status} />
        {error !== null && (
          <p class="hint">
            <Text text={error} limit={80} />
          </p>
        )}
      </>
    ),
  },
  { label: 'Time', align: 'right', cell: ({ created_at }) => <Time at={Date.parse(created_at)} /> },
]

async function mute(context: OperatorPageContext, tenantId: string | null) {
  const { notifications, actor, fields } = context
  const duration = MUTES.find((one) => one === trimmedText(fields, 'for'))
  await notifications.muting.mute(tenantId, actor, trimmedText(fields, 'id'), duration)
}

async function unmute(context: OperatorPageContext, tenantId: string | null) {
  const { notifications, actor, fields } = context
  await notifications.muting.unmute(tenantId, actor, trimmedText(fields, 'id'))
}

const MUTED = good('Alert muted. It stays in the list.')
const UNMUTED = good('Alert unmuted.')

/** What is wrong in a tenant, and what was sent about it. */
export const alertList = page({
  path: PATH,
  section: 'alerts',
  right: 'read',
  title: 'Alerts',
  load: (context) =>
    alertsOf(context, context.tenantId, {
      channelsPath: '/settings/notifications',
      mayMute: context.may('change'),
      actions: { mute: 'mute', unmute: 'unmute' },
    }),
  view: View,
  actions: {
    mute: { right: 'change', flash: MUTED, run: (context) => mute(context, context.tenantId) },
    unmute: {
      right: 'change',
      flash: UNMUTED,
      run: (context) => unmute(context, context.tenantId),
    },
  },
})

/** What is wrong in the installation. */
export const installationAlerts = page({
  path: PATH,
  section: 'alerts',
  right: 'admin',
  title: 'Alerts',
  load: (context) =>
    alertsOf(context, null, {
      channelsPath: '/notifications',
      mayMute: true,
      actions: { mute: 'mute-alert', unmute: 'unmute-alert' },
    }),
  view: View,
  actions: {
    'mute-alert': { right: 'admin', flash: MUTED, run: (context) => mute(context, null) },
    'unmute-alert': { right: 'admin', flash: UNMUTED, run: (context) => unmute(context, null) },
  },
})
