import type { ComponentChildren } from 'preact'
import { PlainLayout } from '../../../views/layout/plain-layout.tsx'
import { Button, LinkButton } from '../../../views/ui/form/button.tsx'
import { Field, FormContext } from '../../../views/ui/form/field.tsx'
import { Form } from '../../../views/ui/form/form.tsx'
import type { FormError } from '../../../views/ui/here.tsx'
import { Text } from '../../../views/ui/text.tsx'
import { url } from '../../../views/ui/url.ts'
import type { AcceptanceIssue } from '../operators/entry.ts'
import { SET_UP_STEPS } from './set-up/step.tsx'

interface EntryForm {
  base: string
  action: string
  values?: Readonly<Record<string, string>>
  errors?: readonly FormError[]
}

/** First step of the set-up: the admin account and the first tenant. */
export const SetUpPage = (form: EntryForm) => (
  <PlainLayout
    base={form.base}
    windowTitle="Set up"
    title="Set up Gatehouse"
    intro="Create your admin account and your first tenant."
    steps={{ at: 0, names: SET_UP_STEPS }}
  >
    <RefillableForm {...form} buttons={<Button weight="primary">Create account and tenant</Button>}>
      <AccountFields />
      <Field
        name="tenant"
        label="Tenant"
        help="Your product or company. All data belongs to a tenant."
        placeholder="Acme"
        isRequired
      />
    </RefillableForm>
  </PlainLayout>
)

/** A form whose fields have the values of a refused submission, with their errors. */
const RefillableForm = ({
  values = {},
  errors = [],
  action,
  ...form
}: EntryForm & { buttons: ComponentChildren; children: ComponentChildren }) => (
  <FormContext.Provider value={{ values, errors }}>
    <Form action={action} errors={errors} {...form} />
  </FormContext.Provider>
)

const AccountFields = ({ email }: { email?: string }) => (
  <>
    <Field name="name" label="Your name" autocomplete="name" isRequired isFocused />
    {email === undefined ? (
      <Field name="email" label="Email" type="email" autocomplete="username" isRequired />
    ) : (
      <p class="hint">
        You sign in as <Text text={email} limit={80} />.
      </p>
    )}
    <Field
      name="password"
      label="Password"
      type="password"
      autocomplete="new-password"
      help="At least 8 characters. Avoid common passwords."
      isRequired
    />
  </>
)

/** Signs in with a button, because mail scanners that open links would otherwise use them up. */
export const LinkPage = ({ base, action }: { base: string; action: string }) => (
  <PlainLayout
    base={base}
    windowTitle="Sign in"
    title="Sign in with a link"
    intro="This link works once. Afterwards, set a new password in your account."
  >
    <Form action={action} buttons={<Button weight="primary">Sign in</Button>}>
      {null}
    </Form>
  </PlainLayout>
)

interface InvitedOperator {
  id: string
  email: string
  /** Why the account can't accept the invitation yet. */
  issue: AcceptanceIssue | undefined
}

/** Account that an invitation page showed, in case another tab has signed in as someone else. */
export const ACCOUNT_FIELD = 'account'

/** Invitation to a tenant. Signed out, it looks the same for every address. */
export const InvitationPage = (
  page: EntryForm & {
    tenantName: string
    role: string
    email: string
    /** The signed-in operator. */
    operator?: InvitedOperator
    loginHref: string
  },
) => (
  <PlainLayout
    base={page.base}
    windowTitle="Invitation"
    title={
      <>
        Join <Text text={page.tenantName} limit={64} />
      </>
    }
    intro={ROLES[page.role]}
  >
    {page.operator ? (
      <AcceptForm {...page} {...page.operator} />
    ) : (
      <>
        <RefillableForm
          {...page}
          buttons={<Button weight="primary">Create account and join</Button>}
        >
          <AccountFields email={page.email} />
        </RefillableForm>
        <p class="hint">
          Already have an account? <a href={page.loginHref}>Sign in to accept</a>
        </p>
      </>
    )}
  </PlainLayout>
)

/** Accepts an invitation as the signed-in operator. */
const AcceptForm = (form: EntryForm & InvitedOperator) => {
  const mustVerify = form.issue === 'must verify'
  return (
    <Form
      action={mustVerify ? url(form.base, '/console/account/verify') : form.action}
      errors={form.errors}
      hidden={{ [ACCOUNT_FIELD]: form.id }}
      buttons={
        <Button weight="primary">{mustVerify ? 'Verify email' : 'Accept invitation'}</Button>
      }
    >
      <p class="hint">
        You are signed in as <Text text={form.email} limit={80} />.
      </p>
      {form.issue && <p class="hint">{ISSUES[form.issue]}</p>}
    </Form>
  )
}

const ISSUES: Readonly<Record<AcceptanceIssue, string>> = {
  'must verify': 'Your email address is not verified. Verify it, then open the invitation again.',
  'loses credentials':
    'Your email address is not verified. Accepting removes the password, two-factor authentication, social ' +
    'logins and other sessions of your account, and you set a new password.',
}

const ROLES: Readonly<Record<string, string>> = {
  owner: 'As an owner, you have full access, including API keys, team and billing.',
  member:
    'As a member, you can create and edit, but not delete or manage API keys, team or billing.',
  viewer: 'As a viewer, you can view everything except API keys.',
}

/** A link that was used or has expired, and what to do next. */
export const UsedUpPage = (page: { base: string; what: string; next: ComponentChildren }) => (
  <PlainLayout
    base={page.base}
    windowTitle="Link expired"
    title={`This ${page.what} has expired`}
    intro="It was already used or is too old."
  >
    <p>{page.next}</p>
    <div class="actions">
      <LinkButton href={url(page.base, '/console')}>Go to the console</LinkButton>
    </div>
  </PlainLayout>
)

/** Shown until the installation has an admin. */
export const NotSetUpPage = ({ base }: { base: string }) => (
  <PlainLayout
    base={base}
    windowTitle="Not set up"
    title="Not set up yet"
    intro="This installation has no admin yet."
  >
    <p>
      The server writes a set-up link to its log at each start. The link is valid for 30 minutes. In
      Docker: <code>docker compose logs gatehouse</code>; with systemd:{' '}
      <code>journalctl -u gatehouse</code>.
    </p>
    <p class="hint">
      Or create an operator on the command line:{' '}
      <code>gatehouse operator create --email … --admin</code>
    </p>
  </PlainLayout>
)
