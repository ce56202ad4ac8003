import { asTyped, errorAt } from '../../../src/console/form.ts'
import type { Invitation } from '../../../src/console/operators/invitations.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { PageHead } from '../page-head.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { RoleField } from './team-words.tsx'

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

/** Where no mail goes out, the only time that the link is shown. */
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
      {isMailed ? (
        <>
          <p>It is on its way by mail, to that mailbox alone.</p>
          <div class="actions">
            <LinkButton href={url(page.base, '/console/team')}>Go to the team</LinkButton>
          </div>
        </>
      ) : (
        <SecretPanel
          title="Link of the invitation"
          what="link"
          secret={link}
          doneHref={url(page.base, '/console/team')}
        >
          No mail goes out now, so hand it over yourself. Copy it now: this is the only time that it
          is shown, and whoever opens it first joins.
        </SecretPanel>
      )}
    </>
  )
}
