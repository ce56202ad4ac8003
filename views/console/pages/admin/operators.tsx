import type { MembershipRow } from '../../../../src/console/operators/store.ts'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { Facts } from '../../facts.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { numeral } from './tenants.tsx'

const PATH = '/console/admin/operators'

/** Somebody who may use the console. */
interface OperatorLine {
  id: string
  email: string
  name: string
  state: 'active' | 'inactive'
  isAdmin: boolean
  createdAt: number
}

const MARKS: Record<OperatorLine['state'], { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  inactive: { tone: 'quiet', word: 'deactivated' },
}

/** Everybody who may use the console, whatever they run. */
export const OperatorsPage = (page: {
  base: string
  lines: readonly (OperatorLine & { runs: readonly MembershipRow[] })[]
  all: readonly OperatorLine[]
  /** Those that the search is about. */
  found: readonly OperatorLine[]
  total: number
  q: string
  isAdminOnly: boolean
  newerHref: string | undefined
  olderHref: string | undefined
  now: number
}) => {
  const { base, lines, found, q, isAdminOnly, now } = page
  return (
    <>
      <PageHead title="Operators" state={{ sentence: sentenceOn(page.all) }} />
      <FilterBar
        action={url(base, PATH)}
        search={{ label: 'E-mail, name or id', value: q }}
        kept={{ admin: isAdminOnly ? 'true' : undefined }}
        clearHref={q === '' && !isAdminOnly ? undefined : url(base, PATH)}
      />
      <FilterChips
        label="Operators"
        tabs={[
          {
            label: 'All',
            href: url(base, PATH, { q }),
            count: found.length,
            isCurrent: !isAdminOnly,
          },
          {
            label: 'Run the installation',
            href: url(base, PATH, { q, admin: true }),
            count: found.filter(({ isAdmin }) => isAdmin).length,
            isCurrent: isAdminOnly,
          },
        ]}
      />
      <DataTable
        caption="Operators, the newest first"
        columns={columns(now)}
        rows={lines}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        pages={{
          newerHref: page.newerHref,
          olderHref: page.olderHref,
          extent: `${numeral(lines.length)} of ${numeral(page.total)}`,
        }}
        empty={
          <EmptyState
            icon="team"
            sentence="Nobody is like that."
            action={<LinkButton href={url(base, PATH)}>Show all operators</LinkButton>}
          />
        }
      />
    </>
  )
}

function sentenceOn(all: readonly OperatorLine[]): string {
  const admins = all.filter(({ isAdmin }) => isAdmin).length
  const people = all.length === 1 ? 'One person' : `${numeral(all.length)} people`
  return `${people} may use the console, ${numeral(admins)} of them ${
    admins === 1 ? 'runs' : 'run'
  } the installation.`
}

const columns = (now: number): Column<OperatorLine & { runs: readonly MembershipRow[] }>[] => [
  { label: 'E-mail', isWide: true, cell: ({ email }) => <Text text={email} limit={60} /> },
  { label: 'Name', cell: ({ name }) => <Text text={name} limit={40} /> },
  { label: 'State', narrow: 'corner', cell: ({ state }) => <StatusMark {...MARKS[state]} /> },
  {
    label: 'Runs',
    cell: ({ isAdmin, runs }) => <Text text={runsOf(isAdmin, runs)} limit={60} />,
  },
  { label: 'Since', align: 'right', cell: ({ createdAt: at }) => <Time at={at} now={now} /> },
]

const runsOf = (isAdmin: boolean, runs: readonly MembershipRow[]): string =>
  [
    ...(isAdmin ? ['the installation'] : []),
    ...runs.map(({ tenantName, role }) => `${tenantName} (${role})`),
  ].join(', ') || 'nothing'

/** One person: what they run, and whether that is all of it. */
export const OperatorPage = (page: {
  base: string
  operator: OperatorLine
  runs: readonly MembershipRow[]
  isSelf: boolean
  /** Nobody else could run the installation. */
  isLastAdmin: boolean
  now: number
}) => {
  const { base, operator, runs, isSelf, now } = page
  return (
    <>
      <PageHead
        title={<Text text={operator.email} />}
        state={{ tone: MARKS[operator.state].tone, sentence: sentenceOnOne(operator, isSelf) }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={operator.id} what="operator id" />],
            ['Name', <Text text={operator.name} />],
            ['State', <StatusMark {...MARKS[operator.state]} />],
            ['Since', <Time at={operator.createdAt} now={now} />],
          ]}
        />
      </Section>
      <Section id="tenants" title="Tenants">
        <DataTable
          caption="Tenants that they run"
          columns={TENANT_COLUMNS}
          rows={runs}
          hrefOf={({ tenantId }) => url(base, `/console/admin/tenants/${tenantId}`)}
          idOf={({ tenantId }) => tenantId}
          empty={
            <EmptyState
              icon="tenants"
              sentence="They belong to no tenant."
              next="An owner of a tenant invites them, on its page Team."
            />
          }
        />
      </Section>
      <DangerZone items={[operator.isAdmin ? taking(page) : giving(page)]} />
    </>
  )
}

function sentenceOnOne({ state, isAdmin }: OperatorLine, isSelf: boolean): string {
  const who = isSelf ? 'You' : 'They'
  if (state === 'inactive') return 'Deactivated: they cannot sign in.'
  return isAdmin ? `${who} run the installation.` : `${who} do not run the installation.`
}

const TENANT_COLUMNS: Column<MembershipRow>[] = [
  { label: 'Name', isWide: true, cell: ({ tenantName }) => <Text text={tenantName} limit={60} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => role },
]

interface Subject {
  base: string
  operator: OperatorLine
  isSelf: boolean
  isLastAdmin: boolean
}

const actionOn = ({ base, operator }: Subject, verb: string) =>
  url(base, `${PATH}/${operator.id}/${verb}`)

const giving = (subject: Subject) => ({
  title: 'Let them run the installation',
  text: 'They see all tenants, their plans and members, the mail outbox and the configuration.',
  control:
    subject.operator.state === 'active' ? (
      <Confirm
        id="give"
        verb="Give admin right"
        question="Let them run the installation?"
        consequence="They may suspend tenants, and give the right to others or take it from you."
        action={actionOn(subject, 'give-admin')}
      />
    ) : (
      <p class="hint">Not while they are deactivated.</p>
    ),
})

const taking = (subject: Subject) => ({
  title: subject.isSelf ? 'Give up running the installation' : 'Keep them from running it',
  text: 'Their tenants stay theirs.',
  control: subject.isLastAdmin ? (
    <p class="hint">Nobody else runs the installation: give somebody else the right first.</p>
  ) : (
    <Confirm
      id="take"
      verb="Take admin right"
      question={
        subject.isSelf ? 'Give up running the installation?' : 'Take the admin right from them?'
      }
      consequence={
        subject.isSelf
          ? 'You see none of these pages any more, until somebody gives you the right again.'
          : 'They see none of these pages any more, from the next click on.'
      }
      action={actionOn(subject, 'take-admin')}
    />
  ),
})
