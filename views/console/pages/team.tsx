import type { Invitation } from '../../../src/console/operators/invitations.ts'
import { ROLES, type Role } from '../../../src/console/operators/rights.ts'
import type { MemberRow } from '../../../src/console/operators/store/memberships.ts'
import { Address } from '../address.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { LinkButton } from '../form/button.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { nameOf, OF_THEIRS, ROLE_WORDS } from './team-words.tsx'

/** Who runs the tenant, and who is asked to. */
export const TeamPage = (page: {
  base: string
  tenantName: string
  members: readonly MemberRow[]
  invitations: readonly Invitation[]
  role: Role | undefined
  visitorId: string
  mayDecide: boolean
  now: number
}) => {
  const { base, members, invitations, role, visitorId, mayDecide, now } = page
  const shown = role ? members.filter((member) => member.role === role) : members
  const owners = members.filter((member) => member.role === 'owner')
  const isLastOwner = owners.length === 1 && owners[0]?.id === visitorId
  return (
    <>
      <PageHead
        title="Team"
        state={{
          sentence: (
            <>
              {members.length === 1 ? 'One person runs ' : `${members.length} people run `}
              <Text text={page.tenantName} limit={48} />
              {`; ${waiting(invitations.length)}.`}
            </>
          ),
        }}
        action={
          mayDecide && (
            <LinkButton weight="primary" href={url(base, '/console/team/invite')}>
              Invite somebody
            </LinkButton>
          )
        }
      />
      <Section id="members" title="Members" note={ruleFor(owners.length, mayDecide)}>
        {members.length > 1 && (
          <FilterChips
            label="Roles"
            tabs={[
              {
                label: 'All',
                href: url(base, '/console/team'),
                count: members.length,
                isCurrent: !role,
              },
              ...ROLES.map((one) => ({
                label: ROLE_WORDS[one].plural,
                href: url(base, '/console/team', { role: one }),
                count: members.filter((member) => member.role === one).length,
                isCurrent: one === role,
              })),
            ]}
          />
        )}
        <DataTable
          caption="Members"
          columns={memberColumns({ visitorId, owners: owners.length, now })}
          rows={shown}
          hrefOf={({ id }) => url(base, `/console/team/${id}`)}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="team"
              sentence={`No ${role ?? 'member'} yet.`}
              next={role && `${ROLE_WORDS[role].text}.`}
            />
          }
        />
      </Section>
      <Section
        id="invitations"
        title="Invitations"
        note="Links that are good once, for seven days."
      >
        <DataTable
          caption="Invitations"
          columns={invitationColumns({ base, mayDecide, now })}
          rows={invitations}
          idOf={({ id }) => id}
          empty={<p class="hint">Nobody is asked to join now.</p>}
        />
      </Section>
      {!isLastOwner && (
        <DangerZone
          items={[
            {
              title: 'Leave the team',
              text: 'You come back only if an owner invites you.',
              control: (
                <Confirm
                  id="leave"
                  verb="Leave team"
                  question={
                    <>
                      Leave <Text text={page.tenantName} limit={48} />?
                    </>
                  }
                  consequence={`You see and do nothing here from then on. ${OF_THEIRS}`}
                  action={url(base, '/console/team/leave')}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

/** Who decides, and what not even owners can. */
const ruleFor = (owners: number, mayDecide: boolean): string =>
  [
    ...(mayDecide ? [] : ['Owners decide who belongs to the team.']),
    owners === 1
      ? 'There is one owner, who can neither leave nor become less until somebody else is an owner, too.'
      : 'A team keeps an owner: the last one can neither leave nor become less.',
  ].join(' ')

const waiting = (count: number): string => {
  if (count === 0) return 'nobody is invited'
  return count === 1 ? 'one invitation waits' : `${count} invitations wait`
}

const memberColumns = (of: {
  visitorId: string
  owners: number
  now: number
}): Column<MemberRow>[] => [
  {
    label: 'Name',
    isWide: true,
    cell: (member) => (
      <>
        <Text text={nameOf(member)} limit={48} />
        {member.id === of.visitorId && <span class="hint"> (you)</span>}
      </>
    ),
  },
  { label: 'E-mail', isWide: true, cell: (member) => <Address {...member} limit={64} /> },
  {
    label: 'Role',
    narrow: 'corner',
    cell: ({ role }) => (
      <>
        {ROLE_WORDS[role].label}
        {role === 'owner' && of.owners === 1 && <span class="hint"> (the only one)</span>}
      </>
    ),
  },
  {
    label: 'Since',
    align: 'right',
    cell: ({ createdAt }) => <Time at={createdAt} now={of.now} />,
  },
]

const invitationColumns = (of: {
  base: string
  mayDecide: boolean
  now: number
}): Column<Invitation>[] => [
  { label: 'E-mail', isWide: true, cell: ({ email }) => <Text text={email} limit={48} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => ROLE_WORDS[role].label },
  {
    label: 'Sent',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={of.now} />,
  },
  {
    label: 'Ends',
    align: 'right',
    cell: ({ expires_at: at }) => <Time at={Date.parse(at)} now={of.now} />,
  },
  ...(of.mayDecide
    ? [
        {
          label: 'Action',
          align: 'right' as const,
          narrow: 'bare' as const,
          // Without scripts the question opens in the cell, and has to break its lines there.
          isWide: true,
          cell: ({ id, email }: Invitation) => (
            <Confirm
              id={`revoke-${id}`}
              verb="Revoke"
              of={`the invitation of ${email}`}
              isSmall
              question={
                <>
                  Revoke the invitation of <Text text={email} limit={48} />?
                </>
              }
              consequence="The link lets nobody in any more. You may invite the same person again."
              action={url(of.base, `/console/team/invitations/${id}/revoke`)}
            />
          ),
        },
      ]
    : []),
]
