import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { GuideStep, GuideSteps } from '../../../../views/ui/guide.tsx'
import { Facts } from '../../../../views/ui/section.tsx'
import { Address } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { Session } from '../../../engines/gate/sessions/model.ts'
import { AppError } from '../../../platform/errors.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { StateBadge } from '../users/badges.tsx'
import {
  aboveGuides,
  createsKey,
  Guide,
  GuideCode,
  type GuideData,
  guideData,
  jsonWith,
  PROGRESS,
  Result,
} from './guide.tsx'

const PATH = '/get-started/users'
const MAX_EMAIL_LENGTH = 64

/** What a browser brings back from a hosted page. */
interface Return {
  flow: string
  code: string
}

interface UsersGuide extends GuideData {
  /** The newest user, and their newest session. */
  user: IdentityDetail | undefined
  session: Session | undefined
  returned: Return | undefined
}

/** Guide to a first user, who signs up on the hosted page and comes back to the guide. */
export const usersGuide = page({
  path: PATH,
  section: 'overview',
  right: 'read',
  title: 'Sign up a test user',
  above: aboveGuides,

  load(context): UsersGuide {
    const { gate, caller, query } = context
    const live = caller('gate', 'live')
    const [user] = gate.identities.list(live, { limit: 1 }).data
    const { flow, code } = query
    return {
      ...guideData(context, 'users'),
      user,
      session: user && gate.sessions.list(live, user.id)[0],
      returned: flow && code ? { flow, code } : undefined,
    }
  },

  view: (guide) => (
    <Guide
      goal="users"
      sentence="Your users sign up and sign in on pages that Gatehouse hosts. Your app gets a session."
      code={<Code {...guide} />}
    >
      <Steps {...guide} />
    </Guide>
  ),

  live: ({ newKey: _, ...guide }) => ({ [PROGRESS]: { facts: guide, view: <Steps {...guide} /> } }),

  actions: {
    'sign-up': { right: 'change', run: (context) => hostedPage(context, 'registration') },
    'sign-in': { right: 'change', run: (context) => hostedPage(context, 'login') },
    key: createsKey({
      engines: ['gate'],
      environment: 'live',
      scopes: ['flows', 'sessions:write', 'identities:read'],
    }),
  },
})

/** Opens a hosted page that leads back to the guide, if the tenant's return URLs allow that. */
async function hostedPage(
  { gate, caller, baseUrl, href }: PageContext,
  kind: 'registration' | 'login',
) {
  const start = (returnTo: string | undefined) =>
    gate.flows.start(caller('gate', 'live'), kind, { language: undefined, returnTo })
  const returnTo = new URL(href(PATH), baseUrl()).href
  const flow = await start(returnTo).catch((error) => {
    if (error instanceof AppError && error.kind === 'invalid') return start(undefined)
    throw error
  })
  return { away: flow.hosted_url }
}

function Steps({ user, session, next }: Omit<UsersGuide, 'newKey'>) {
  const { may, href, actionHref } = usePage()
  const isDone = user !== undefined && session !== undefined
  return (
    <>
      <GuideSteps>
        <GuideStep title="Sign up on your sign-up page" isDone={user !== undefined}>
          {!user && (
            <p class="hint">
              Enter any email address, such as test@example.com, and a password. No email is needed.
              The page then brings you back here.
            </p>
          )}
          {may('change') && (
            <div class="actions">
              <ActionButton
                weight={user ? 'plain' : 'primary'}
                isSmall={user !== undefined}
                action={actionHref('sign-up')}
              >
                Open sign-up page
              </ActionButton>
              {user && (
                <ActionButton isSmall action={actionHref('sign-in')}>
                  Open sign-in page
                </ActionButton>
              )}
            </div>
          )}
        </GuideStep>
        <GuideStep title="See the user" isDone={user !== undefined}>
          {user && <UserFacts user={user} />}
        </GuideStep>
        <GuideStep title="See the session" isDone={session !== undefined}>
          {session && <SessionFacts session={session} />}
        </GuideStep>
      </GuideSteps>
      {isDone && (
        <Result
          next={next}
          more={
            <>
              <LinkButton href={href('/sign-in')}>Choose sign-in methods</LinkButton>
              <LinkButton href={href(`/identities/${user.id}`)}>View user</LinkButton>
            </>
          }
        >
          Users have no test environment: delete the test user on their page when you no longer need
          them.
        </Result>
      )}
    </>
  )
}

const UserFacts = ({ user }: { user: IdentityDetail }) => (
  <Facts
    facts={[
      [
        'Email',
        <Address
          email={user.traits.email}
          isVerified={user.verifiable_addresses.some(({ verified }) => verified)}
          limit={MAX_EMAIL_LENGTH}
        />,
      ],
      ['Status', <StateBadge state={user.state} />],
      ['Signed up', <Time at={Date.parse(user.created_at)} />],
    ]}
  />
)

const SessionFacts = ({ session }: { session: Session }) => (
  <Facts
    facts={[
      ['Signed in', <Time at={Date.parse(session.authenticated_at)} />],
      ['With', capitalized(session.authentication_methods.map(({ method }) => method).join(', '))],
      ['Expires', <Time at={Date.parse(session.expires_at)} />],
    ]}
  />
)

function Code({ newKey, returned }: UsersGuide) {
  const api = `${usePage().baseUrl()}/v1/gate`
  return (
    <GuideCode
      goal="users"
      newKey={newKey}
      note={
        returned
          ? 'The sign-up page brought back a code. Your server exchanges it for the session, once and within 5 minutes.'
          : 'Your server starts a flow, sends the browser to its hosted_url, and exchanges the code that comes back.'
      }
      requests={(key) => [
        {
          title: 'curl: start a sign-up',
          url: `${api}/auth/registration`,
          headers: {
            Authorization: `Bearer ${key}`,
            'X-Return-To': 'https://example.com/signed-in',
          },
        },
        {
          title: 'curl: exchange the code',
          url: `${api}/sessions/exchange`,
          headers: jsonWith(key),
          body: returned ?? { flow: '…', code: '…' },
        },
      ]}
    />
  )
}
