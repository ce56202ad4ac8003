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
import { counted } from '../words.ts'
import { LEAVING, nameOf, ROLE_WORDS } from './team-words.tsx'

/** Members and pending invitations of a tenant. */
export const TeamPage = (page: {
  base: string
  tenantName: string
  members: readonly MemberRow[]
  invitations: readonly Invitation[]
  role: Role | undefined
  operatorId: string
  mayDecide: boolean
  now: number
}) => {
  const { base, members, invitations, role, operatorId, mayDecide, now } = page
  const shown = role ? members.filter((member) => member.role === role) : members
  const owners = members.filter((member) => member.role === 'owner')
  const isLastOwner = owners.length === 1 && owners[0]?.id === operatorId
  return (
    <>
      <PageHead
        title="Team"
        state={{
          sentence: (
            <>
              {counted(members.length, 'member')} in <Text text={page.tenantName} limit={48} />
              {`, ${waiting(invitations.length)}`}
            </>
          ),
        }}
        action={
          mayDecide && (
            <LinkButton weight="primary" href={url(base, '/console/team/invite')}>
              Invite member
            </LinkButton>
          )
        }
      />
      <Section id="members" title="Members" note={ruleFor(isLastOwner, mayDecide)}>
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
          columns={memberColumns({ operatorId, owners: owners.length, now })}
          rows={shown}
          hrefOf={({ id }) => url(base, `/console/team/${id}`)}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="team"
              sentence={`No ${role ?? 'member'}s yet`}
              next={role && `${ROLE_WORDS[role].text}.`}
            />
          }
        />
      </Section>
      <Section
        id="invitations"
        title="Invitations"
        note="Each link works once and expires after 7 days."
      >
        <DataTable
          caption="Invitations"
          columns={invitationColumns({ base, mayDecide, now })}
          rows={invitations}
          idOf={({ id }) => id}
          empty={<p class="hint">No pending invitations</p>}
        />
      </Section>
      {!isLastOwner && (
        <DangerZone
          items={[
            {
              title: 'Leave the team',
              text: 'To come back, you need an invitation from an owner.',
              control: (
                <Confirm
                  id="leave"
                  verb="Leave team"
                  question={
                    <>
                      Leave <Text text={page.tenantName} limit={48} />?
                    </>
                  }
                  consequence={LEAVING}
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

/** Rules for members, for the current operator. */
const ruleFor = (isLastOwner: boolean, mayDecide: boolean): string =>
  [
    ...(mayDecide ? [] : ['Only owners can manage members.']),
    isLastOwner
      ? 'Add another owner before you leave or change role.'
      : 'A team needs at least one owner.',
  ].join(' ')

const waiting = (count: number): string => {
  if (count === 0) return 'no pending invitations'
  return counted(count, 'pending invitation')
}

const memberColumns = (of: {
  operatorId: string
  owners: number
  now: number
}): Column<MemberRow>[] => [
  {
    label: 'Name',
    isWide: true,
    cell: (member) => (
      <>
        <Text text={nameOf(member)} limit={48} />
        {member.id === of.operatorId && <span class="hint"> (you)</span>}
      </>
    ),
  },
  { label: 'Email', isWide: true, cell: (member) => <Address {...member} limit={64} /> },
  {
    label: 'Role',
    narrow: 'corner',
    cell: ({ role }) => (
      <>
        {ROLE_WORDS[role].label}
        {role === 'owner' && of.owners === 1 && <span class="hint"> (only owner)</span>}
      </>
    ),
  },
  {
    label: 'Joined',
    align: 'right',
    cell: ({ createdAt }) => <Time at={createdAt} now={of.now} />,
  },
]

const invitationColumns = (of: {
  base: string
  mayDecide: boolean
  now: number
}): Column<Invitation>[] => [
  { label: 'Email', isWide: true, cell: ({ email }) => <Text text={email} limit={48} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => ROLE_WORDS[role].label },
  {
    label: 'Sent',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={of.now} />,
  },
  {
    label: 'Expires',
    align: 'right',
    cell: ({ expires_at: at }) => <Time at={Date.parse(at)} now={of.now} />,
  },
  ...(of.mayDecide
    ? [
        {
          label: 'Action',
          align: 'right' as const,
          narrow: 'bare' as const,
          // Without scripts, the confirmation opens in the cell and needs room to wrap.
          isWide: true,
          cell: ({ id, email }: Invitation) => (
            <Confirm
              id={`revoke-${id}`}
              verb="Revoke"
              of={`the invitation to ${email}`}
              isSmall
              question={
                <>
                  Revoke the invitation to <Text text={email} limit={48} />?
                </>
              }
              consequence="The link stops working. You can invite the same person again."
              action={url(of.base, `/console/team/invitations/${id}/revoke`)}
            />
          ),
        },
      ]
    : []),
]
