import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { trimmedText } from '../../form.ts'
import type { Invitation } from '../../operators/invitations.ts'
import { page, shown, usePage } from '../../page.tsx'
import { RoleField, roleIn } from './team.tsx'

/** The form to invite a member. */
export const inviteMember = page({
  path: '/team/invite',
  section: 'team',
  right: 'team',
  title: 'Invite a member',

  load: () => ({}),

  view: () => (
    <>
      <PageHead
        title="Invite a member"
        state={{ sentence: 'The invitation link works once and expires after 7 days.' }}
      />
      <PageForm action="" buttons={<Button weight="primary">Invite member</Button>} cancel="/team">
        <Field
          name="email"
          label="Email"
          type="email"
          help="A new invitation replaces an earlier one to the same address."
          isRequired
        />
        <RoleField value="member" />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'team',
      form: { email: 'email', role: 'role' },
      /** Shows the link in the response to the form, because it is not stored. */
      async run({ operators, tenantId, operator, actor, fields }) {
        const inviter = { actor, id: operator.id, name: operator.displayName || operator.email }
        const wanted = { email: trimmedText(fields, 'email'), role: roleIn(fields) }
        const invitation = await operators.invitations.invite(inviter, tenantId, wanted)
        return shown('Invitation', <InvitedPage invitation={invitation} />)
      },
    },
  },
})

/** Confirms an invitation. Shows the link once if it could not be emailed. */
function InvitedPage({
  invitation,
}: {
  invitation: Invitation & { url: string; isMailed: boolean }
}) {
  const { href } = usePage()
  const { email, role, expires_at: end, url: link, isMailed } = invitation
  return (
    <>
      <PageHead
        title={isMailed ? 'Invitation sent' : 'Invitation created'}
        state={{
          tone: 'good',
          sentence: (
            <>
              <Text text={email} limit={80} /> can join as {role}. The link expires{' '}
              <Time at={Date.parse(end)} />.
            </>
          ),
        }}
      />
      {isMailed ? (
        <>
          <p>The link was emailed to that address only.</p>
          <div class="actions">
            <LinkButton href={href('/team')}>View team</LinkButton>
          </div>
        </>
      ) : (
        <SecretPanel title="Invitation link" what="link" secret={link} doneHref={href('/team')}>
          Gatehouse can't send email right now, so send the link yourself. Copy it now: you won't be
          able to see it again. The first person to open it can join.
        </SecretPanel>
      )}
    </>
  )
}
