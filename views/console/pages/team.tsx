import { asTyped, errorAt } from '../../../src/console/form.ts'
import type { Invitation } from '../../../src/console/operators/invitations.ts'
import { ROLES, type Role } from '../../../src/console/operators/rights.ts'
import type { MemberRow } from '../../../src/console/operators/store.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Confirm, DangerZone } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import { Radios } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { Section } from '../section.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'

/** What a role lets somebody do, where people choose one. */
const ABOUT: Record<Role, { label: string; plural: string; text: string }> = {
  owner: {
    label: 'Owner',
    plural: 'Owners',
    text: 'Does everything: keys, team, bills, deleting',
  },
  member: {
    label: 'Member',
    plural: 'Members',
    text: 'Runs what is there; no keys, team or bills, and deletes nothing',
  },
  viewer: { label: 'Viewer', plural: 'Viewers', text: 'Sees all but keys, and changes nothing' },
}

/** As others know somebody: by name, else by address. */
export const nameOf = ({ traits, email }: Pick<MemberRow, 'traits' | 'email'>): string => {
  const { display_name: name } = JSON.parse(traits) as { display_name?: string }
  return name || email
}

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
  const invite = (
    <LinkButton weight="primary" href={url(base, '/console/team/invite')}>
      Invite somebody
    </LinkButton>
  )
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
        action={mayDecide && invite}
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
                label: ABOUT[one].plural,
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
              next={role && `${ABOUT[role].text}.`}
              action={mayDecide && invite}
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

/** What stays and what goes with somebody. */
const OF_THEIRS = 'Keys stay; invitations sent by whoever goes are revoked.'

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
  { label: 'E-mail', isWide: true, cell: ({ email }) => <Text text={email} limit={64} /> },
  {
    label: 'Role',
    narrow: 'corner',
    cell: ({ role }) => (
      <>
        {ABOUT[role].label}
        {role === 'owner' && of.owners === 1 && <span class="hint">, the only one</span>}
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
  { label: 'Role', narrow: 'corner', cell: ({ role }) => ABOUT[role].label },
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

const RoleField = (field: { value: string; error: string | undefined; help?: string }) => (
  <Radios
    {...field}
    name="role"
    label="Role"
    options={ROLES.map((value) => ({ value, label: ABOUT[value].label, text: ABOUT[value].text }))}
  />
)

/** Asks whom to invite, and as what. */
export const InvitePage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => (
  <>
    <PageHead
      title="Invite somebody"
      state={{ sentence: 'They get a link that is good once, for seven days.' }}
    />
    <Form
      action={url(page.base, '/console/team/invite')}
      errors={page.errors}
      buttons={<Button weight="primary">Invite</Button>}
    >
      <Field
        name="email"
        label="E-mail"
        type="email"
        help="Invited anew, the link from before works no more."
        value={page.typed && asTyped(page.typed, 'email')}
        error={errorAt(page.errors, 'email')}
        isRequired
      />
      <RoleField
        value={page.typed ? asTyped(page.typed, 'role') : 'member'}
        error={errorAt(page.errors, 'role')}
      />
    </Form>
  </>
)

/** The only time that the link is shown. */
export const InvitedPage = (page: {
  base: string
  invitation: Invitation & { url: string; isMailed: boolean }
  now: number
}) => {
  const { email, role, expires_at: end, url: link, isMailed } = page.invitation
  return (
    <>
      <PageHead
        title="Invited"
        state={{
          tone: 'good',
          sentence: (
            <>
              <Text text={email} limit={80} /> may join as {role}; the link ends{' '}
              <Time at={Date.parse(end)} now={page.now} />.
            </>
          ),
        }}
      />
      <SecretPanel
        title="Link of the invitation"
        secret={link}
        doneHref={url(page.base, '/console/team')}
      >
        {isMailed
          ? 'It is on its way by mail. To hand it over yourself as well, copy it now: '
          : 'No mail goes out now, so hand it over yourself. Copy it now: '}
        this is the only time that it is shown, and whoever opens it first joins.
      </SecretPanel>
    </>
  )
}

/** One person of the team: since when, as what, and the end of it. */
export const MemberPage = (page: {
  base: string
  tenantName: string
  member: MemberRow
  isVisitor: boolean
  isLastOwner: boolean
  mayDecide: boolean
  now: number
  typed: Fields | undefined
  errors: readonly FormError[] | undefined
}) => {
  const { base, member, isVisitor, isLastOwner, mayDecide, now } = page
  const name = <Text text={nameOf(member)} limit={64} />
  const href = url(base, `/console/team/${member.id}`)
  return (
    <>
      <PageHead
        title={name}
        state={{
          sentence: `${ABOUT[member.role].label}${isVisitor ? ', and this is you' : ''}. ${ABOUT[member.role].text}.`,
        }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['E-mail', <Text text={member.email} limit={80} />],
            ['Id', <Id id={member.id} what="operator id" />],
            ['Role', ABOUT[member.role].label],
            ['Since', <Time at={member.createdAt} now={now} />],
          ]}
        />
      </Section>
      {mayDecide && (
        <Section id="role" title="Change the role">
          <Form action={href} errors={page.errors} buttons={<Button>Change role</Button>}>
            <RoleField
              value={page.typed ? asTyped(page.typed, 'role') : member.role}
              error={errorAt(page.errors, 'role')}
              {...(isLastOwner && {
                help: 'This is the only owner. Make somebody else an owner first.',
              })}
            />
          </Form>
        </Section>
      )}
      {mayDecide && !isLastOwner && (
        <DangerZone
          items={[
            {
              title: isVisitor ? 'Leave the team' : 'Remove from the team',
              text: 'The account stays; it has no part in this tenant any more.',
              control: (
                <Confirm
                  id="remove"
                  verb={isVisitor ? 'Leave team' : 'Remove member'}
                  question={
                    isVisitor ? (
                      <>
                        Leave <Text text={page.tenantName} limit={48} />?
                      </>
                    ) : (
                      <>Remove {name}?</>
                    )
                  }
                  consequence={`It counts at once, whatever is open. ${OF_THEIRS}`}
                  action={`${href}/remove`}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}
