import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { PROVIDERS } from '../../../config/index.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import { SIGN_INS_KEPT } from '../../../engines/gate/limits.ts'
import type { SignIn } from '../../../engines/gate/sessions/sign-ins.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { deviceName, methodNames } from './badges.tsx'
import { crumbToUser, userIn } from './one-user.ts'

const ON_A_PAGE = 50
const SORTS = { time: 'desc' } as const

interface SignInHistory {
  identity: IdentityDetail
  found: Page<SignIn>
  /** Number of failed attempts. */
  failed: number
  time: TimeFilter
}

/** All sign-in attempts of a user. */
export const signInHistoryPage = page({
  path: '/identities/:id/sign-ins',
  section: 'identities',
  right: 'read',

  load(context): SignInHistory {
    const { gate, caller, position } = context
    const identity = userIn(context)
    const failed = { isSuccess: false, limit: SIGN_INS_KEPT }
    return {
      identity,
      found: matching(context, identity.id, { cursor: position.cursor, limit: ON_A_PAGE }),
      failed: gate.signIns.list(caller('gate', 'live'), identity.id, failed).data.length,
      time: timeFilterIn(context),
    }
  },

  title: ({ identity }) => `Sign-ins of ${identity.traits.email}`,
  above: crumbToUser,
  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view({ identity, found, failed, time }) {
    const { isFiltered, pagesTo, sortedBy } = useList()
    return (
      <>
        <PageHead
          title="Sign-ins"
          state={{ sentence: <Text text={identity.traits.email} /> }}
          aside={<ExportMenu />}
        />
        <ListChips
          name="result"
          label="Result"
          chips={[
            { value: 'failed', label: 'Failed', count: failed, tone: 'bad' },
            { value: 'succeeded', label: 'Signed in' },
          ]}
        />
        <ListFilters time={time} />
        <SignInTable
          signIns={found.data}
          pages={pagesTo(found.next_cursor)}
          sorting={sortedBy(SORTS)}
          {...(isFiltered && { empty: <NoMatches icon="signIn" noun="sign-ins" /> })}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'sign-ins',
      columns: {
        at: ({ at }) => isoTime(at),
        succeeded: ({ isSuccess }) => isSuccess,
        reason: ({ reason }) => reason,
        method: ({ method }) => method,
        provider: ({ provider }) => provider,
        ip_address: ({ ipAddress }) => ipAddress,
        device: ({ device }) => deviceName(device),
      },
      slices(context: PageContext<'/:id'>) {
        const { id } = userIn(context)
        return pagesOf((of) => matching(context, id, of))
      },
    }),
  },
})

const RESULTS: Readonly<Record<string, boolean>> = { succeeded: true, failed: false }

/** Attempts that match the filter of the query string, in its order. */
function matching(
  context: PageContext<'/:id'>,
  id: string,
  of: { cursor: string | undefined; limit: number },
) {
  const { gate, caller, query } = context
  const { since, until } = timeFilterIn(context)
  return gate.signIns.list(caller('gate', 'live'), id, {
    ...{ ...of, since, until },
    isSuccess: RESULTS[query.result ?? ''],
    isAscending: !sortingIn(query.sort, SORTS).isDescending,
  })
}

/** The latest sign-in attempts on the page of a user. */
export const SignInSection = ({ id, signIns }: { id: string; signIns: readonly SignIn[] }) => (
  <Section
    id="sign-ins"
    title="Sign-ins"
    note="Successful and failed attempts."
    aside={
      signIns.length > 0 && <a href={usePage().href(`/identities/${id}/sign-ins`)}>View all</a>
    }
  >
    <SignInTable signIns={signIns} />
  </Section>
)

const SignInTable = ({
  signIns,
  ...table
}: { signIns: readonly SignIn[] } & Partial<Parameters<typeof DataTable<SignIn>>[0]>) => (
  <DataTable<SignIn>
    caption="Sign-ins"
    rows={signIns}
    idOf={({ seq }) => `${seq}`}
    columns={COLUMNS}
    empty={<p class="hint">No sign-ins yet</p>}
    {...table}
  />
)

const COLUMNS: Column<SignIn>[] = [
  { label: 'Result', cell: ResultBadge },
  { label: 'Method', cell: methodOf },
  { label: 'Device', cell: ({ device }) => capitalized(deviceName(device)) },
  {
    label: 'IP address',
    isWide: true,
    isMono: true,
    cell: ({ ipAddress }) => <Text text={ipAddress ?? ''} />,
  },
  {
    label: 'Time',
    align: 'right',
    narrow: 'corner',
    sort: 'time',
    cell: ({ at }) => <Time at={at} />,
  },
]

function ResultBadge({ isSuccess, reason }: SignIn) {
  if (isSuccess) return <StatusBadge tone="good" word="signed in" />
  return <StatusBadge tone="warn" word={reason === 'inactive' ? 'user inactive' : 'failed'} />
}

function methodOf({ method, provider, reason }: SignIn): string {
  const known = PROVIDERS.find((one) => one === provider)
  const name = capitalized(known ? providerName(known) : methodNames([method]))
  return reason === 'wrong' ? `${name}, incorrect` : name
}
