import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Radios } from '../../../../views/ui/form/choices.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Address, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { Fields } from '../../../http/body.ts'
import { isoTime } from '../../../platform/clock.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { trimmedText } from '../../form.ts'
import { ListChips, useList } from '../../list.tsx'
import type { Invitation } from '../../operators/invitations.ts'
import type { MemberRow } from '../../operators/memberships.ts'
import { ROLES, type Role } from '../../operators/rights.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { sortRows } from '../../short-list.ts'

/** Label and permissions of each role. */
export const ROLE_WORDS: Record<Role, { label: string; plural: string; text: string }> = {
  owner: {
    label: 'Owner',
    plural: 'Owners',
    text: 'Full access, including API keys, team and billing',
  },
  member: {
    label: 'Member',
    plural: 'Members',
    text: 'Can create and edit, but not delete or manage API keys, team or billing',
  },
  viewer: { label: 'Viewer', plural: 'Viewers', text: 'Can view everything except API keys' },
}

/** Display name of a member, or the email address. */
export const nameOf = ({ traits, email }: Pick<MemberRow, 'traits' | 'email'>): string => {
  const { display_name: name } = JSON.parse(traits) as { display_name?: string }
  return name || email
}

/** Consequences of leaving a team, and of removing a member. */
export const LEAVING =
  'You lose access immediately. API keys stay active. Invitations that you sent are revoked.'
export const REMOVING =
  'They lose access immediately. API keys stay active. Invitations that they sent are revoked.'

/** Radio buttons for a role. */
export const RoleField = (field: { value: string; help?: string }) => (
  <Radios
    {...field}
    name="role"
    label="Role"
    options={ROLES.map((value) => ({
      value,
      label: ROLE_WORDS[value].label,
      text: ROLE_WORDS[value].text,
    }))}
  />
)

export const roleIn = (fields: Fields): Role =>
  ROLES.find((one) => one === trimmedText(fields, 'role')) ??
  fail(invalid(`must be one of ${ROLES.join(', ')}`, { field: 'role', rule: 'choice' }))

const SORTS = { joined: 'asc', name: 'asc', email: 'asc' } as const

interface TeamView {
  members: readonly MemberRow[]
  /** Members that match the filter. */
  shown: readonly MemberRow[]
  invitations: readonly Invitation[]
}

/** Members and pending invitations of a tenant. */
export const teamPage = page({
  path: '/team',
  section: 'team',
  right: 'read',
  title: 'Team',

  load(context): TeamView {
    const { operators, tenantId } = context
    return {
      members: operators.memberships.list(tenantId),
      shown: matching(context),
      invitations: operators.invitations.list(tenantId),
    }
  },

  view({ members, shown, invitations }) {
    const { href, may, operator, tenant, query } = usePage()
    const { sortedBy } = useList()
    const role = ROLES.find((one) => one === query.role)
    const owners = members.filter((member) => member.role === 'owner')
    const isLastOwner = owners.length === 1 && owners[0]?.id === operator.id
    return (
      <>
        <PageHead
          title="Team"
          state={{
            sentence: (
              <>
                {counted(members.length, 'member')} in <Text text={tenant.name} limit={48} />
                {`, ${waiting(invitations.length)}`}
              </>
            ),
          }}
          action={
            may('team') && (
              <LinkButton weight="primary" href={href('/team/invite')}>
                Invite member
              </LinkButton>
            )
          }
          aside={<ExportMenu />}
        />
        <Section id="members" title="Members" note={ruleFor(isLastOwner, may('team'))}>
          {members.length > 1 && (
            <ListChips
              name="role"
              label="Roles"
              all={members.length}
              chips={ROLES.map((value) => ({
                value,
                label: ROLE_WORDS[value].plural,
                count: members.filter((member) => member.role === value).length,
              }))}
            />
          )}
          <DataTable
            caption="Members"
            columns={memberColumns(operator.id, owners.length)}
            rows={shown}
            sorting={sortedBy(SORTS)}
            hrefOf={({ id }) => href(`/team/${id}`)}
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
            columns={may('team') ? [...INVITATION_COLUMNS, REVOCATION] : INVITATION_COLUMNS}
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
                        Leave <Text text={tenant.name} limit={48} />?
                      </>
                    }
                    consequence={LEAVING}
                    action={href('/team/leave')}
                  />
                ),
              },
            ]}
          />
        )}
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'team',
      columns: {
        id: ({ id }) => id,
        name: (member) => nameOf(member),
        email: ({ email }) => email,
        email_verified: ({ isVerified }) => isVerified,
        role: ({ role }) => role,
        joined_at: ({ createdAt }) => isoTime(createdAt),
      },
      slices: (context: PageContext) => [matching(context)],
    }),
  },

  actions: {
    'invitations/:id/revoke': {
      right: 'team',
      flash: good('Invitation revoked.'),
      run: ({ operators, tenantId, actor, params }) =>
        operators.invitations.revoke(actor, tenantId, params.id),
    },
    leave: {
      right: 'read',
      run: async (context) => {
        await context.operators.memberships.remove(
          context.actor,
          context.tenantId,
          context.operator.id,
        )
        return LEFT
      },
    },
  },
})

/** Members that match the filter of the query string, in its order. */
function matching({ operators, tenantId, query }: PageContext): MemberRow[] {
  const role = ROLES.find((one) => one === query.role)
  const members = operators.memberships.list(tenantId)
  return sortRows(
    members.filter((member) => !role || member.role === role),
    sortingIn(query.sort, SORTS),
    { joined: ({ createdAt }) => createdAt, name: nameOf, email: ({ email }) => email },
  )
}

/** Operators who left can't open the team page any more. */
export const LEFT = { to: '/account', query: { done: 'account.left' } }

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

const memberColumns = (operatorId: string, owners: number): Column<MemberRow>[] => [
  {
    label: 'Name',
    isWide: true,
    sort: 'name',
    cell: (member) => (
      <>
        <Text text={nameOf(member)} limit={48} />
        {member.id === operatorId && <span class="hint"> (you)</span>}
      </>
    ),
  },
  {
    label: 'Email',
    isWide: true,
    sort: 'email',
    cell: (member) => <Address {...member} limit={64} />,
  },
  {
    label: 'Role',
    narrow: 'corner',
    cell: ({ role }) => (
      <>
        {ROLE_WORDS[role].label}
        {role === 'owner' && owners === 1 && <span class="hint"> (only owner)</span>}
      </>
    ),
  },
  {
    label: 'Joined',
    align: 'right',
    sort: 'joined',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

const INVITATION_COLUMNS: Column<Invitation>[] = [
  { label: 'Email', isWide: true, cell: ({ email }) => <Text text={email} limit={48} /> },
  { label: 'Role', narrow: 'corner', cell: ({ role }) => ROLE_WORDS[role].label },
  { label: 'Sent', align: 'right', cell: ({ created_at: at }) => <Time at={Date.parse(at)} /> },
  { label: 'Expires', align: 'right', cell: ({ expires_at: at }) => <Time at={Date.parse(at)} /> },
]

const REVOCATION: Column<Invitation> = {
  label: 'Action',
  align: 'right',
  narrow: 'bare',
  // Without scripts, the confirmation opens in the cell and needs room to wrap.
  isWide: true,
  cell: ({ id, email }) => (
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
      action={usePage().href(`/team/invitations/${id}/revoke`)}
    />
  ),
}
