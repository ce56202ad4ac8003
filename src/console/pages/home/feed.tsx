import type { ComponentChildren } from 'preact'
import { PAGES } from '../../../../views/layout/navigation.ts'
import { StatusShape, type Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { withoutScheme } from '../../../../views/ui/words.ts'
import type { LatestRun } from '../../../engines/clockwork/queries.ts'
import type { LoginRecord } from '../../../engines/passepartout/index.ts'
import type { Delivery } from '../../../http/delivery-log/model.ts'
import { isTestReceiver } from '../../../platform/test-receiver/index.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { DELIVERY_TONES, WORDS } from '../webhooks/state.tsx'

const MAX_NAME_LENGTH = 48

/** An event in one of the engines. `key` is the ID of its row. */
export type Activity = { key: string; at: number } & (
  | { kind: 'person'; type: string; identityId: string; email: string | null }
  | { kind: 'run'; run: LatestRun }
  | { kind: 'login'; login: LoginRecord }
  | { kind: 'delivery'; delivery: Delivery; address: string | null }
)

/** Most events of one kind, so that a busy engine leaves room for the others. */
const OF_A_KIND = 10
const SHOWN = 12

/** Latest events of an environment, newest first. Users and jobs are in the live environment only. */
export const latestActivity = (context: PageContext): Activity[] =>
  [
    ...(context.environment === 'live' ? [...people(context), ...runs(context)] : []),
    ...logins(context),
    ...deliveries(context),
  ]
    .toSorted((one, other) => other.at - one.at)
    .slice(0, SHOWN)

const people = ({ delivery, tenantId }: PageContext): Activity[] =>
  delivery.queries
    .newest({ tenantId, name: 'gate.live' }, OF_A_KIND)
    .map(({ id, type, payload, acceptedAt: at }) => {
      const { identity_id: identityId, payload: identity } = JSON.parse(payload).data
      const email = typeof identity.email === 'string' ? identity.email : null
      return { key: `person-${id}`, kind: 'person', at, type, identityId, email }
    })

const runs = ({ clockwork, tenantId }: PageContext): Activity[] =>
  clockwork.queries
    .latest(tenantId, OF_A_KIND)
    .map((run) => ({ key: `run-${run.id}`, kind: 'run', at: run.startedAt, run }))

const logins = ({ passepartout, tenantId, environment }: PageContext): Activity[] =>
  passepartout.queries
    .list({ tenantId, environment }, { limit: OF_A_KIND })
    .data.map((login) => ({
      key: `login-${login.id}`,
      kind: 'login',
      at: Date.parse(login.created_at),
      login,
    }))

function deliveries(context: PageContext): Activity[] {
  const { relay, delivery, caller, tenantId, environment } = context
  const latest = relay.deliveries.list(caller('relay', environment), { limit: OF_A_KIND }).data
  if (latest.length === 0) return []
  const addresses = new Map(
    delivery.queries
      .addresses({ tenantId, name: `relay.${environment}` })
      .map(({ id, url: address }) => [id, address]),
  )
  return latest.map((one) => ({
    key: `delivery-${one.id}`,
    kind: 'delivery',
    at: Date.parse(one.created_at),
    delivery: one,
    address: addresses.get(one.endpoint_id) ?? null,
  }))
}

interface FeedRow {
  tone: Tone
  title: ComponentChildren
}

/** Latest events in all engines. Rows have IDs for live updates. */
export function Feed({ activity }: { activity: readonly Activity[] }) {
  const { href, environment } = usePage()
  if (activity.length === 0) return <p class="hint">No activity yet</p>
  return (
    <>
      <ol class="events" aria-label="Latest events">
        {activity.map((one) => {
          const { tone, title } = rowOf(href, one)
          return (
            <li id={one.key}>
              <StatusShape tone={tone} />
              <div class="eventtext">
                <p class="eventtitle">{title}</p>
              </div>
              <div class="eventaside">
                <Time at={one.at} />
              </div>
            </li>
          )
        })}
      </ol>
      <p class="more">
        View all
        {MORE[environment].map(([page, word]) => (
          <a href={href(PAGES[page].path)}>{word}</a>
        ))}
      </p>
    </>
  )
}

/** Links to the lists. */
const MORE_TEST = [
  ['logins', 'logins'],
  ['deliveries', 'deliveries'],
] as const
const MORE = {
  live: [['identities', 'users'], ['jobs', 'jobs'], ...MORE_TEST],
  test: MORE_TEST,
} as const

type Href = PageContext['href']

function rowOf(href: Href, one: Activity): FeedRow {
  switch (one.kind) {
    case 'person':
      return userRow(href, one)
    case 'run':
      return runRow(href, one)
    case 'login':
      return loginRow(href, one)
    case 'delivery':
      return deliveryRow(href, one)
  }
}

type Of<Kind extends Activity['kind']> = Extract<Activity, { kind: Kind }>

const EVENT_LABELS: Readonly<Record<string, string>> = {
  'identity.created': 'was created',
  'identity.deleted': 'was deleted',
  'identity.login': 'signed in',
  'identity.password_changed': 'changed their password',
  'identity.email_verified': 'verified their email',
  'identity.state_changed': 'was activated or deactivated',
}

function userRow(href: Href, { type, identityId, email }: Of<'person'>): FeedRow {
  const name = email === null ? 'A user' : <Text text={email} limit={MAX_NAME_LENGTH} />
  return {
    tone: type === 'identity.deleted' ? 'quiet' : 'good',
    title: (
      <>
        {type === 'identity.deleted' ? (
          name
        ) : (
          <a href={href(`/identities/${identityId}`)}>{name}</a>
        )}{' '}
        {EVENT_LABELS[type] ?? type}
      </>
    ),
  }
}

const RUN_TONES: Record<Of<'run'>['run']['status'], Tone> = {
  running: 'busy',
  success: 'good',
  failed: 'bad',
}

function runRow(href: Href, { run }: Of<'run'>): FeedRow {
  const path = run.kind === 'cron' ? 'jobs' : 'delayed'
  return {
    tone: RUN_TONES[run.status],
    title: (
      <>
        <a href={href(`/${path}/${run.jobId}`, { execution: run.id })}>
          <Text text={run.name} limit={MAX_NAME_LENGTH} />
        </a>{' '}
        {outcomeOf(run)}
      </>
    ),
  }
}

function outcomeOf({ status, durationMs, responseStatus, attempt }: Of<'run'>['run']): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  if (status === 'running') return `is running${again}`
  if (status === 'success') return `succeeded in ${duration(durationMs ?? 0)}${again}`
  return `failed${responseStatus === null ? '' : `: ${responseStatus}`}${again}`
}

const LOGIN_STATES: Record<Of<'login'>['login']['state'], { tone: Tone; words: string }> = {
  pending: { tone: 'busy', words: 'is waiting to be opened' },
  opened: { tone: 'busy', words: 'is waiting for approval' },
  approved: { tone: 'good', words: 'was approved' },
  denied: { tone: 'warn', words: 'was denied' },
  mismatched: { tone: 'warn', words: 'failed: wrong number selected' },
}

function loginRow(href: Href, { login }: Of<'login'>): FeedRow {
  const { tone, words } = login.is_expired
    ? { tone: 'quiet' as const, words: 'expired' }
    : LOGIN_STATES[login.state]
  return {
    tone,
    title: (
      <>
        <a href={href(`/logins/${login.id}`)}>
          Messenger login
          {login.client_label !== null && (
            <>
              {' from '}
              <Text text={login.client_label} limit={MAX_NAME_LENGTH} />
            </>
          )}
        </a>{' '}
        {words}
      </>
    ),
  }
}

const targetName = (url: string): string =>
  isTestReceiver(url) ? 'the test receiver' : withoutScheme(url)

function deliveryRow(href: Href, { delivery, address }: Of<'delivery'>): FeedRow {
  const { id, event_type: type, status } = delivery
  return {
    tone: DELIVERY_TONES[status],
    title: (
      <>
        <a href={href(`/deliveries/${id}`)}>
          <Text text={type} limit={MAX_NAME_LENGTH} />
        </a>{' '}
        {WORDS[status]}
        {address !== null && (
          <>
            {status === 'succeeded' ? ' to ' : ', for '}
            <Text text={targetName(address)} limit={MAX_NAME_LENGTH} />
          </>
        )}
      </>
    ),
  }
}
