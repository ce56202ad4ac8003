import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { Caller } from '../../../platform/caller.ts'
import { deviceOf } from '../../../platform/device.ts'
import { AppError } from '../../../platform/errors.ts'
import { good, type PageContext, page, usePage, warn } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { memberNames } from '../workspace/keys.tsx'
import { Activity } from './activity.tsx'
import {
  deviceName,
  StateBadge,
  type UserSession,
  type UserView,
  VerifiedBadge,
} from './badges.tsx'
import { Credentials } from './credentials.tsx'
import { Metadata, saveMetadata } from './metadata.tsx'
import { userIn } from './one-user.ts'
import { Profile, saveProfile } from './profile.tsx'
import { BULK, endSession, Sessions } from './sessions.tsx'
import { SignInSection } from './sign-ins.tsx'

const MAILED = {
  sent: good('Email sent.'),
  held: warn('The email is held in the outbox, because this installation has no mail server.'),
  limited: warn('Not sent: too many emails to this address or from your team. Try again later.'),
}
/** Latest sign-ins and activity on the page itself. */
const SIGN_INS_SHOWN = 5
const ACTIVITY_SHOWN = 15

const REMOVED = good('Sign-in method removed. Existing sessions continue.')

/** One user: profile, sign-in methods, sessions, activity, metadata and actions. */
export const userPage = page({
  path: '/identities/:id',
  section: 'identities',
  right: 'read',

  load(context): UserView {
    const { gate, mail } = context
    const caller = context.caller('gate', 'live')
    const identity = userIn(context)
    return {
      identity,
      sessions: gate.sessions
        .list(caller, identity.id)
        .map((session) => ({
          ...session,
          device: deviceOf(session.devices[0]?.user_agent ?? null),
        })),
      signIns: gate.signIns.list(caller, identity.id, { limit: SIGN_INS_SHOWN }).data,
      // Some entries are left out, because another log has them.
      activity: gate.history
        .list(caller, identity.id, { limit: 2 * ACTIVITY_SHOWN })
        .data.slice(0, ACTIVITY_SHOWN),
      names: memberNames(context),
      hasCode: mail.hasServer && gate.signInMethods.security(caller).passwordless_enabled,
    }
  },

  title: ({ identity }) => identity.traits.email,

  view(user) {
    const { identity, sessions } = user
    const { href } = usePage()
    const isActive = identity.state === 'active'
    const audit = href('/audit', { object: `identity:${identity.id}` })
    return (
      <>
        <PageHead
          title={<Text text={identity.traits.email} />}
          state={{ tone: isActive ? 'good' : 'quiet', sentence: sentenceOn(identity, sessions) }}
          aside={<LinkButton href={audit}>Audit log</LinkButton>}
        />
        <About identity={identity} />
        <Credentials {...user} />
        <Sessions sessions={sessions} />
        <SignInSection id={identity.id} signIns={user.signIns} />
        <Activity {...user} auditHref={audit} />
        <Profile identity={identity} />
        <Metadata identity={identity} />
        <Section id="raw" title="API object">
          <JsonView title="Identity" value={identity} />
        </Section>
        <UserDangerZone identity={identity} />
      </>
    )
  },

  actions: {
    profile: {
      right: 'change',
      form: {
        'traits.email': 'email',
        'traits.custom_data': 'custom_data',
        custom_data: 'custom_data',
        email: 'email',
      },
      flash: {
        saved: good('Profile saved.'),
        moved: good('Profile saved. The new email address is not verified yet.'),
        unannounced: warn(
          'Profile saved. The new email address is not verified yet. The old address got no notice, because this installation has no mail server.',
        ),
      },
      run: (context) => saveProfile(context, userIn(context)),
    },
    metadata: {
      right: 'change',
      form: { metadata: 'metadata' },
      flash: good('Metadata saved.'),
      run: (context) => saveMetadata(context, userIn(context)),
    },
    activate: {
      right: 'change',
      flash: good('User activated.'),
      run: (context) => setState(context, 'active'),
    },
    deactivate: {
      right: 'change',
      flash: good('User deactivated. Their sessions and access tokens have ended.'),
      run: (context) => setState(context, 'inactive'),
    },
    verify: {
      right: 'change',
      flash: MAILED,
      run: (context) =>
        mailed(context, (caller, id) => context.gate.verification.resend(caller, id)),
    },
    recover: {
      right: 'change',
      flash: MAILED,
      run: (context) =>
        mailed(context, (caller, id) => context.gate.recoveryMails.send(caller, id)),
    },
    'credentials/:part/remove': {
      right: 'change',
      flash: REMOVED,
      async run(context) {
        const { gate, caller, params } = context
        await gate.credentialRemoval.remove(caller('gate', 'live'), userIn(context).id, params.part)
      },
    },
    'accounts/:part/remove': {
      right: 'change',
      flash: REMOVED,
      async run(context) {
        const { gate, caller, params } = context
        await gate.credentialRemoval.removeAccount(
          caller('gate', 'live'),
          userIn(context).id,
          params.part,
        )
      },
    },
    'sessions/revoke-all': {
      right: 'change',
      flash: good('All sessions ended.'),
      async run(context) {
        await context.gate.sessions.revokeAll(context.caller('gate', 'live'), userIn(context).id)
      },
    },
    'sessions/:part/revoke': {
      right: 'change',
      flash: good('Session ended.'),
      run: (context) => endSession(context, context.params.part),
    },
    ...BULK,
    delete: {
      right: 'delete',
      flash: good('User deleted. Only the audit log is kept.'),
      async run(context) {
        await context.gate.identities.remove(context.caller('gate', 'live'), userIn(context).id)
        return { to: '/identities' }
      },
    },
  },
})

async function setState(context: PageContext<'/:id'>, state: 'active' | 'inactive'): Promise<void> {
  const { id } = userIn(context)
  await context.gate.editing.setState(context.caller('gate', 'live'), id, state)
}

/** Sends an email. A rate limit is a message instead of an error. */
async function mailed(
  context: PageContext<'/:id'>,
  send: (caller: Caller, id: string) => Promise<unknown>,
): Promise<{ flash: keyof typeof MAILED }> {
  const { id } = userIn(context)
  try {
    await send(context.caller('gate', 'live'), id)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'rate_limited') return { flash: 'limited' }
    throw error
  }
  return { flash: context.mail.hasServer ? 'sent' : 'held' }
}

function sentenceOn({ state }: IdentityDetail, sessions: readonly UserSession[]): string {
  if (state === 'inactive') return "Inactive. This user can't sign in."
  const [latest] = sessions
  if (!latest) return 'Active, no sessions'
  return `Active, ${counted(sessions.length, 'session')}, last on ${deviceName(latest.device)}`
}

function About({ identity }: Pick<UserView, 'identity'>) {
  const { may, actionHref, mail } = usePage()
  const { verifiable_addresses: addresses, state } = identity
  const isToVerify =
    may('change') && state === 'active' && addresses.some(({ verified }) => !verified)
  return (
    <Section
      id="who"
      title="About"
      isCard
      {...(isToVerify && !mail.hasServer && { note: <VerificationNeedsMail /> })}
      aside={
        isToVerify &&
        mail.hasServer && (
          <ActionButton isSmall action={actionHref('verify')}>
            Send verification email
          </ActionButton>
        )
      }
    >
      <Facts facts={factsOf(identity)} />
    </Section>
  )
}

const VerificationNeedsMail = () => (
  <>
    Verification emails can't be sent yet. <NoMailServer />
  </>
)

function factsOf(identity: IdentityDetail): Fact[] {
  const time = (at: string) => <Time at={Date.parse(at)} />
  return [
    ['ID', <Id id={identity.id} what="user ID" />],
    ['Status', <StateBadge {...identity} />],
    ...identity.verifiable_addresses.flatMap(({ value, verified, verified_at: at }) => [
      ['Email', <Text text={value} />] as const,
      [
        'Email verified',
        <>
          <VerifiedBadge isVerified={verified} /> {at && time(at)}
        </>,
      ] as const,
    ]),
    ['Created', time(identity.created_at)],
    ['Updated', time(identity.updated_at)],
    ...(identity.state === 'inactive'
      ? [['Inactive since', time(identity.state_changed_at)] as const]
      : []),
  ]
}

/** Deactivates, activates or deletes a user. */
function UserDangerZone({ identity }: Pick<UserView, 'identity'>) {
  const { may, actionHref } = usePage()
  const items = [
    ...(may('change')
      ? [identity.state === 'active' ? deactivation(actionHref) : activation(actionHref)]
      : []),
    ...(may('delete') ? [deletion(actionHref)] : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}

type ActionHref = (action: string) => string

const deactivation = (actionHref: ActionHref) => ({
  text: "They can't sign in until you activate them again.",
  id: 'deactivate',
  verb: 'Deactivate user',
  question: 'Deactivate this user?',
  consequence:
    'Ends all their sessions and access tokens. Activating the user again does not restore them.',
  action: actionHref('deactivate'),
})

const activation = (actionHref: ActionHref) => ({
  title: 'Activate user',
  text: 'They can sign in again.',
  control: <ActionButton action={actionHref('activate')}>Activate user</ActionButton>,
})

const deletion = (actionHref: ActionHref) => ({
  text: "Deletes all their data except the audit log. This can't be undone.",
  id: 'delete',
  verb: 'Delete user',
  question: 'Delete this user?',
  consequence:
    'The user is deleted immediately. Emails and deliveries about them are removed in the background.',
  action: actionHref('delete'),
})
