import { type Event, Events } from '../../../../views/ui/events.tsx'
import { Pager } from '../../../../views/ui/pager.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Happening } from '../../../engines/gate/identities/history.ts'
import type { Actor } from '../../../platform/audit/index.ts'
import { isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { memberNames } from '../workspace/keys.tsx'
import { deviceName, methodNames, type UserView } from './badges.tsx'
import { nameOfCredential } from './credentials.tsx'
import { crumbToUser, userIn } from './one-user.ts'

/** Entries of a page. Some are left out, because another log has them. */
const ON_A_PAGE = 100

/** Whose activity it is, and the names of operators. */
type Context = Pick<UserView, 'identity' | 'names'>

interface ActivityView extends Context {
  found: Page<Happening>
  time: TimeFilter
}

/** All activity of a user, and changes to the user. */
export const activityPage = page({
  path: '/identities/:id/activity',
  section: 'identities',
  right: 'read',

  load(context): ActivityView {
    const { cursor } = context.position
    const identity = userIn(context)
    return {
      identity,
      names: memberNames(context),
      found: matching(context, identity.id, { cursor, limit: ON_A_PAGE }),
      time: timeFilterIn(context),
    }
  },

  title: ({ identity }) => `Activity of ${identity.traits.email}`,
  above: crumbToUser,
  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view({ found, time, ...of }) {
    const { isFiltered, pagesTo } = useList()
    const pages = pagesTo(found.next_cursor)
    const none = isFiltered || pages.olderHref !== undefined
    return (
      <>
        <PageHead
          title="Activity"
          state={{ sentence: <Text text={of.identity.traits.email} /> }}
          aside={<ExportMenu />}
        />
        <ListFilters time={time} />
        {found.data.length === 0 && none ? (
          <NoMatches icon="audit" noun="events" olderHref={pages.olderHref} />
        ) : (
          <ActivityList entries={found.data} of={of} />
        )}
        <Pager {...pages} />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'activity',
      columns: {
        at: ({ at }) => isoTime(at),
        event: (entry) => exported(entry).event,
        actor_kind: (entry) => exported(entry).actor.kind,
        actor_id: (entry) => exported(entry).actor.id ?? null,
        source: (entry) => exported(entry).actor.source ?? null,
        detail: (entry) => JSON.stringify(exported(entry).detail),
      },
      slices(context: PageContext<'/:id'>) {
        const { id } = userIn(context)
        return pagesOf((of) => matching(context, id, of))
      },
    }),
  },
})

const USER: Actor = { kind: 'person' }

function exported(entry: Happening): { event: string; actor: Actor; detail: object } {
  switch (entry.kind) {
    case 'signed_in': {
      const { methods, ipAddress } = entry
      const actor = { ...USER, ...(ipAddress !== null && { source: ipAddress }) }
      return { event: 'signed_in', actor, detail: { methods } }
    }
    case 'event':
      return { event: entry.type, actor: USER, detail: {} }
    case 'done':
      return { event: entry.action, actor: entry.actor, detail: entry.detail }
  }
}

/** Activity within the time of the query string. */
function matching(
  context: PageContext<'/:id'>,
  id: string,
  of: { cursor: string | undefined; limit: number },
) {
  const { gate, caller } = context
  const { since, until } = timeFilterIn(context)
  return gate.history.list(caller('gate', 'live'), id, { ...of, since, until })
}

/** The latest activity on the page of a user. */
export const Activity = (page: UserView & { auditHref: string }) => (
  <Section
    id="history"
    title="Activity"
    note={
      <>
        Latest activity. All changes are in the <a href={page.auditHref}>audit log</a>.
      </>
    }
    aside={
      page.activity.length > 0 && (
        <a href={usePage().href(`/identities/${page.identity.id}/activity`)}>View all</a>
      )
    }
  >
    <ActivityList entries={page.activity} of={page} />
  </Section>
)

const ActivityList = ({ entries, of }: { entries: readonly Happening[]; of: Context }) =>
  entries.length === 0 ? (
    <p class="hint">No recent activity</p>
  ) : (
    <Events
      label="Activity"
      events={entries.map((entry) => ({ ...eventOf(entry, of), aside: <Time at={entry.at} /> }))}
    />
  )

function eventOf(entry: Happening, of: Context): Event {
  switch (entry.kind) {
    case 'signed_in':
      return {
        tone: 'good',
        title: `Signed in with ${methodNames(entry.methods)}`,
        text: (
          <>
            {deviceName(entry.device)}
            {entry.ipAddress && (
              <>
                , <Text text={entry.ipAddress} limit={64} />
              </>
            )}
          </>
        ),
      }
    case 'event':
      return {
        tone: 'good',
        title: <Text text={EVENT_LABELS[entry.type] ?? entry.type} limit={80} />,
      }
    case 'done':
      return {
        tone: TONES[entry.action] ?? 'quiet',
        title: <Text text={actionLabel(entry)} limit={80} />,
        text: <By actor={entry.actor} of={of} />,
      }
  }
}

const EVENT_LABELS: Record<string, string> = {
  'identity.password_changed': 'Password changed',
  'identity.email_verified': 'Email verified',
}

const TONES: Record<string, Tone> = {
  'identity.credential_removed': 'warn',
  'identity.credentials_wiped': 'warn',
  'sessions.revoked': 'warn',
}

const ACTION_LABELS: Record<string, (detail: Record<string, unknown>) => string> = {
  'identity.created': () => 'Created',
  'identity.updated': ({ fields }) =>
    Array.isArray(fields) ? `Updated: ${fields.join(', ')}` : 'Updated',
  'identity.state_changed': ({ state }) => (state === 'active' ? 'Activated' : 'Deactivated'),
  'identity.credential_removed': ({ type, provider }) =>
    `Removed: ${nameOfCredential(String(type))}${provider ? ` (${provider})` : ''}`,
  'identity.credentials_wiped': () => 'Credentials removed (unverified account)',
  'identity.account_connected': ({ provider }) => `Social login connected: ${provider}`,
  'identity.recovered': () => 'Account recovered',
  'identity.recovery_sent': () => 'Recovery email sent',
  'verification.sent': () => 'Verification email sent',
  'sessions.revoked': () => 'All sessions ended',
}

const actionLabel = ({ action, detail }: Extract<Happening, { kind: 'done' }>): string =>
  ACTION_LABELS[action]?.(detail) ?? action

const By = ({ actor, of }: { actor: Actor; of: Context }) => (
  <>
    By <Text text={nameOf(actor, of)} limit={64} />
    {actor.source && (
      <>
        , <Text text={actor.source} limit={64} />
      </>
    )}
  </>
)

function nameOf({ kind, id }: Actor, { identity, names }: Context): string {
  switch (kind) {
    case 'operator':
      return names.get(id ?? '') ?? 'a former operator'
    case 'key':
      return 'an API key'
    case 'person':
      return id === identity.id ? 'the user' : 'another user'
    case 'cli':
      return 'the command line'
    case 'system':
      return 'Gatehouse'
  }
}
