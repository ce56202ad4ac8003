import type { Invitation } from '../../../src/console/operators/invitations.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { errorAt, rawText } from '../form/values.ts'
import { PageHead } from '../page-head.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { RoleField } from './team-words.tsx'

/** Form to invite a member. */
export const InvitePage = (page: {
  base: string
  values?: Fields
  errors?: readonly FormError[]
}) => (
  <>
    <PageHead
      title="Invite a member"
      state={{ sentence: 'The invitation link works once and expires after 7 days.' }}
    />
    <Form
      action={url(page.base, '/console/team/invite')}
      errors={page.errors}
      buttons={<Button weight="primary">Invite member</Button>}
    >
      <Field
        name="email"
        label="Email"
        type="email"
        help="A new invitation replaces an earlier one to the same address."
        value={rawText(page.values, 'email')}
        error={errorAt(page.errors, 'email')}
        isRequired
      />
      <RoleField
        value={rawText(page.values, 'role') ?? 'member'}
        error={errorAt(page.errors, 'role')}
      />
    </Form>
  </>
)

/** Confirms an invitation. Shows the link once if it could not be emailed. */
export const InvitedPage = (page: {
  base: string
  invitation: Invitation & { url: string; isMailed: boolean }
  now: number
}) => {
  const { email, role, expires_at: end, url: link, isMailed } = page.invitation
  return (
    <>
      <PageHead
        title={isMailed ? 'Invitation sent' : 'Invitation created'}
        state={{
          tone: 'good',
          sentence: (
            <>
              <Text text={email} limit={80} /> can join as {role}. The link expires{' '}
              <Time at={Date.parse(end)} now={page.now} />.
            </>
          ),
        }}
      />
      {isMailed ? (
        <>
          <p>The link was emailed to that address only.</p>
          <div class="actions">
            <LinkButton href={url(page.base, '/console/team')}>View team</LinkButton>
          </div>
        </>
      ) : (
        <SecretPanel
          title="Invitation link"
          what="link"
          secret={link}
          doneHref={url(page.base, '/console/team')}
        >
          Gatehouse can't send email right now, so send the link yourself. Copy it now: you won't be
          able to see it again. The first person to open it can join.
        </SecretPanel>
      )}
    </>
  )
}
