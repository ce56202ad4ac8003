import type { ComponentChildren } from 'preact'
import { PAGES } from '../../../../views/console/layout/navigation.ts'
import { StatusShape } from '../../../../views/console/status-badge.tsx'
import { Text } from '../../../../views/console/text.tsx'
import { duration, Time } from '../../../../views/console/time.tsx'
import type { Tone } from '../../../../views/console/tone.ts'
import { url } from '../../../../views/console/url.ts'
import { withoutScheme } from '../../../../views/console/words.ts'
import type { LatestRun } from '../../../engines/clockwork/store/read-model.ts'
import type { LoginRecord } from '../../../engines/passepartout/index.ts'
import type { Delivery } from '../../../http/delivery-log/model.ts'
import { DELIVERY_TONES, WORDS } from '../webhooks/state.tsx'

const MAX_NAME_LENGTH = 48

/** An event in one of the engines. `key` is the ID of its row. */
export type Activity = { key: string; at: number } & (
  | { kind: 'person'; type: string; identityId: string; email: string | null }
  | { kind: 'run'; run: LatestRun }
  | { kind: 'login'; login: LoginRecord }
  | { kind: 'delivery'; delivery: Delivery; address: string | null }
)

interface FeedRow {
  tone: Tone
  title: ComponentChildren
}

/** Latest events in all engines, newest first. Rows have IDs for live updates. */
export const Feed = (feed: { base: string; activity: readonly Activity[]; now: number }) =>
  feed.activity.length === 0 ? (
    <p class="hint">No activity yet</p>
  ) : (
    <>
      <ol class="events" aria-label="Latest events">
        {feed.activity.map((one) => {
          const { tone, title } = rowOf(feed.base, one)
          return (
            <li id={one.key}>
              <StatusShape tone={tone} />
              <div class="eventtext">
                <p class="eventtitle">{title}</p>
              </div>
              <div class="eventaside">
                <Time at={one.at} now={feed.now} />
              </div>
            </li>
          )
        })}
      </ol>
      <p class="more">
        View all
        {MORE.map(([page, word]) => (
          <a href={url(feed.base, PAGES[page].path)}>{word}</a>
        ))}
      </p>
    </>
  )

/** Links to the lists. */
const MORE = [
  ['identities', 'users'],
  ['jobs', 'jobs'],
  ['logins', 'logins'],
  ['deliveries', 'deliveries'],
] as const

function rowOf(base: string, one: Activity): FeedRow {
  switch (one.kind) {
    case 'person':
      return userRow(base, one)
    case 'run':
      return runRow(base, one)
    case 'login':
      return loginRow(base, one)
    case 'delivery':
      return deliveryRow(base, one)
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

function userRow(base: string, { type, identityId, email }: Of<'person'>): FeedRow {
  const name = email === null ? 'A user' : <Text text={email} limit={MAX_NAME_LENGTH} />
  return {
    tone: type === 'identity.deleted' ? 'quiet' : 'good',
    title: (
      <>
        {type === 'identity.deleted' ? (
          name
        ) : (
          <a href={url(base, `/console/identities/${identityId}`)}>{name}</a>
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

function runRow(base: string, { run }: Of<'run'>): FeedRow {
  const path = run.kind === 'cron' ? 'jobs' : 'delayed'
  return {
    tone: RUN_TONES[run.status],
    title: (
      <>
        <a href={url(base, `/console/${path}/${run.jobId}`, { execution: run.id })}>
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

function loginRow(base: string, { login }: Of<'login'>): FeedRow {
  const { tone, words } = login.is_expired
    ? { tone: 'quiet' as const, words: 'expired' }
    : LOGIN_STATES[login.state]
  return {
    tone,
    title: (
      <>
        <a href={url(base, `/console/logins/${login.id}`)}>
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

function deliveryRow(base: string, { delivery, address }: Of<'delivery'>): FeedRow {
  const { id, event_type: type, status } = delivery
  return {
    tone: DELIVERY_TONES[status],
    title: (
      <>
        <a href={url(base, `/console/deliveries/${id}`)}>
          <Text text={type} limit={MAX_NAME_LENGTH} />
        </a>{' '}
        {WORDS[status]}
        {address !== null && (
          <>
            {status === 'succeeded' ? ' to ' : ', for '}
            <Text text={withoutScheme(address)} limit={MAX_NAME_LENGTH} />
          </>
        )}
      </>
    ),
  }
}
