import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { PROVIDERS } from '../../../config/index.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { SignIn } from '../../../engines/gate/sessions/sign-ins.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import { page, usePage } from '../../page.tsx'
import { deviceName, methodNames } from './badges.tsx'

const ON_A_PAGE = 50

interface SignInHistory {
  identity: IdentityDetail
  signIns: readonly SignIn[]
  isFirst: boolean
  /** Position of the next page. */
  older: number | undefined
}

/** All sign-in attempts of a user. */
export const signInHistoryPage = page({
  path: '/identities/:id/sign-ins',
  section: 'identities',
  right: 'read',

  load({ gate, caller, params, query }): SignInHistory {
    const of = caller('gate', 'live')
    const identity = gate.identities.find(of, params.id) ?? fail(notFound('identity not found'))
    const before = positionIn(query.before)
    const found = gate.signIns.list(of, identity.id, { before, limit: ON_A_PAGE + 1 })
    const signIns = found.slice(0, ON_A_PAGE)
    const older = found.length > ON_A_PAGE ? signIns.at(-1)?.seq : undefined
    return { identity, signIns, isFirst: before === undefined, older }
  },

  title: ({ identity }) => `Sign-ins of ${identity.traits.email}`,
  above: ({ identity }, { href }) => [
    { label: identity.traits.email, href: href(`/identities/${identity.id}`) },
  ],

  view({ identity, signIns, isFirst, older }) {
    const path = usePage().href(`/identities/${identity.id}/sign-ins`)
    return (
      <>
        <PageHead title="Sign-ins" state={{ sentence: <Text text={identity.traits.email} /> }} />
        <SignInTable
          signIns={signIns}
          pages={{
            newerHref: isFirst ? undefined : path,
            olderHref: older === undefined ? undefined : `${path}?before=${older}`,
          }}
        />
      </>
    )
  },
})

function positionIn(text: string | undefined): number | undefined {
  if (!text) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw invalid('must be the number of an entry', { field: 'before', rule: 'format' })
  return Number(text)
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
  pages,
}: {
  signIns: readonly SignIn[]
  pages?: Parameters<typeof DataTable>[0]['pages']
}) => (
  <DataTable<SignIn>
    caption="Sign-ins, newest first"
    rows={signIns}
    idOf={({ seq }) => `${seq}`}
    columns={COLUMNS}
    {...(pages && { pages })}
    empty={<p class="hint">No sign-ins yet</p>}
  />
)

const COLUMNS: Column<SignIn>[] = [
  { label: 'Result', narrow: 'corner', cell: ResultBadge },
  { label: 'Method', cell: methodOf },
  { label: 'Device', cell: ({ device }) => capitalized(deviceName(device)) },
  {
    label: 'IP address',
    isWide: true,
    isMono: true,
    cell: ({ ipAddress }) => <Text text={ipAddress ?? ''} />,
  },
  { label: 'Time', align: 'right', cell: ({ at }) => <Time at={at} /> },
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
