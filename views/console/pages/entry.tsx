import type { ComponentChildren } from 'preact'
import type { LackingProof } from '../../../src/console/operators/entry.ts'
import { ActionButton, Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { FRAME_PATHS } from '../frame/navigation.ts'
import { PlainFrame } from '../frame/plain-frame.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'
import { SET_UP_STEPS } from './first-job.tsx'

interface EntryForm {
  base: string
  action: string
  typed?: Readonly<Record<string, string>>
  errors?: readonly FormError[]
}

const messageAt = ({ errors }: EntryForm, name: string) =>
  errors?.find((error) => error.name === name)?.message

/** The first step of a new installation: who runs it, and the tenant they begin with. */
export const SetUpPage = (form: EntryForm) => (
  <PlainFrame
    base={form.base}
    windowTitle="Set up"
    title="Set up Gatehouse"
    intro="You will run this installation, and own its first tenant."
    steps={{ at: 0, names: SET_UP_STEPS }}
  >
    <Form
      action={form.action}
      errors={form.errors}
      buttons={<Button weight="primary">Create account and tenant</Button>}
    >
      <AccountFields {...form} />
      <Field
        name="tenant"
        label="Tenant"
        help="What you build, or the company that it is for. All data belongs to a tenant."
        placeholder="Acme"
        value={form.typed?.tenant}
        error={messageAt(form, 'tenant')}
        isRequired
      />
    </Form>
  </PlainFrame>
)

const AccountFields = (form: EntryForm & { email?: string }) => (
  <>
    <Field
      name="name"
      label="Your name"
      autocomplete="name"
      value={form.typed?.name}
      error={messageAt(form, 'name')}
      isRequired
      isFocused
    />
    {form.email === undefined ? (
      <Field
        name="email"
        label="E-mail"
        type="email"
        autocomplete="username"
        value={form.typed?.email}
        error={messageAt(form, 'email')}
        isRequired
      />
    ) : (
      <p class="hint">
        You sign in as <Text text={form.email} limit={80} />.
      </p>
    )}
    <Field
      name="password"
      label="Password"
      type="password"
      autocomplete="new-password"
      help="At least eight characters, and none that everybody has."
      error={messageAt(form, 'password')}
      isRequired
    />
  </>
)

/** Lets somebody in by a button, so that whatever opens links in mails uses none up. */
export const LinkPage = ({ base, action }: { base: string; action: string }) => (
  <PlainFrame
    base={base}
    windowTitle="Sign in"
    title="Sign in by link"
    intro="The link works once. Set a new password in your account afterwards."
  >
    <Form action={action} buttons={<Button weight="primary">Sign in</Button>}>
      {null}
    </Form>
  </PlainFrame>
)

interface InvitedOperator {
  id: string
  email: string
  /** Why the account cannot accept as it is. */
  lacking: LackingProof | undefined
}

/** Names the account that a page of an invitation showed: another tab may sign in with another one. */
export const ACCOUNT_FIELD = 'account'

/** Asks somebody to join a tenant: before sign-in, the same for every address. */
export const InvitationPage = (
  page: EntryForm & {
    tenantName: string
    role: string
    email: string
    /** The operator who is signed in already. */
    visitor?: InvitedOperator
    loginHref: string
  },
) => (
  <PlainFrame
    base={page.base}
    windowTitle="Invitation"
    title={
      <>
        Join <Text text={page.tenantName} limit={64} />
      </>
    }
    intro={ROLES[page.role]}
  >
    {page.visitor ? (
      <AcceptForm {...page} {...page.visitor} />
    ) : (
      <>
        <Form
          action={page.action}
          errors={page.errors}
          buttons={<Button weight="primary">Create account and join</Button>}
        >
          <AccountFields {...page} />
        </Form>
        <p class="hint">
          Already have an account? <a href={page.loginHref}>Sign in to accept</a>
        </p>
      </>
    )}
  </PlainFrame>
)

/** For an operator who is signed in. */
const AcceptForm = (form: EntryForm & InvitedOperator) => {
  const mustVerify = form.lacking === 'must verify'
  return (
    <Form
      action={mustVerify ? url(form.base, '/console/account/verify') : form.action}
      errors={form.errors}
      hidden={{ [ACCOUNT_FIELD]: form.id }}
      buttons={
        <Button weight="primary">{mustVerify ? 'Verify e-mail' : 'Accept the invitation'}</Button>
      }
    >
      <p class="hint">
        You are signed in as <Text text={form.email} limit={80} />.
      </p>
      {form.lacking && <p class="hint">{LACKING[form.lacking]}</p>}
    </Form>
  )
}

const LACKING: Readonly<Record<LackingProof, string>> = {
  'must verify':
    'Your address is not verified. Verify your address, then open the invitation again.',
  'loses credentials':
    'Your address is not verified. Accepting removes the password, two-factor authentication, social ' +
    'logins and other sessions of your account, and you set a new password.',
}

const ROLES: Readonly<Record<string, string>> = {
  owner: 'As an owner you may do everything, including keys, team and bills.',
  member: 'As a member you run what is there; keys, team and bills are for owners.',
  viewer: 'As a viewer you see everything but keys, and change nothing.',
}

/** Who accepted an invitation decides whether to go there: other tabs have something open elsewhere. */
export const JoinedPage = (page: {
  base: string
  tenant: { id: string; name: string }
  /** The tenant that they are in; undefined for the installation. */
  current: string | undefined
}) => (
  <PlainFrame
    base={page.base}
    windowTitle="Joined"
    title={
      <>
        You joined <Text text={page.tenant.name} limit={64} />
      </>
    }
    intro={
      <>
        You are still in{' '}
        {page.current === undefined ? 'the installation' : <Text text={page.current} limit={64} />}.
        Switching applies to all your open tabs.
      </>
    }
  >
    <div class="actions">
      <ActionButton
        weight="primary"
        action={url(page.base, FRAME_PATHS.place)}
        fields={{ place: page.tenant.id }}
      >
        Switch to <Text text={page.tenant.name} limit={32} />
      </ActionButton>
      <LinkButton href={url(page.base, '/console')}>Stay</LinkButton>
    </div>
  </PlainFrame>
)

/** A link that is no good any more, and what to do now. */
export const UsedUpPage = (page: { base: string; what: string; next: ComponentChildren }) => (
  <PlainFrame
    base={page.base}
    windowTitle="Link used up"
    title={`This ${page.what} is used up`}
    intro="It was used before, or is too old."
  >
    <p>{page.next}</p>
    <div class="actions">
      <LinkButton href={url(page.base, '/console')}>Go to the console</LinkButton>
    </div>
  </PlainFrame>
)

/** Before there is anybody who could sign in. */
export const NotSetUpPage = ({ base }: { base: string }) => (
  <PlainFrame
    base={base}
    windowTitle="Not set up"
    title="Not set up yet"
    intro="Nobody runs this installation so far."
  >
    <p>
      The server writes a set-up link into its log at each start; it is good for half an hour. In
      Docker: <code>docker compose logs gatehouse</code>, with systemd:{' '}
      <code>journalctl -u gatehouse</code>.
    </p>
    <p class="hint">
      Or make an operator by command: <code>gatehouse operator create --email … --admin</code>
    </p>
  </PlainFrame>
)
