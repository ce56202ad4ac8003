import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { GuideStep, GuideSteps, Waiting } from '../../../../views/ui/guide.tsx'
import { StatusShape } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { LoginRecord, PersonRecord } from '../../../engines/passepartout/index.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { userOf } from '../messenger-login/login.tsx'
import { badgeOf, nameOf } from '../messenger-login/logins.tsx'
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

const PATH = '/get-started/messenger-login'
const MAX_NAME_LENGTH = 64

interface MessengerGuide extends GuideData {
  /** The newest login with the test bot, and the user who approved it. */
  login: LoginRecord | undefined
  user: PersonRecord | undefined
  /** Link to the chat, on the page that follows the start of a login. */
  link: string | undefined
}

/** Guide to a first messenger login, which is approved in the chat with the test bot. */
export const messengerGuide = page({
  path: PATH,
  section: 'overview',
  right: 'read',
  title: 'Approve a test login',
  above: aboveGuides,

  load(context): MessengerGuide {
    const { passepartout, query } = context
    const { queries } = passepartout
    const test = testBotOf(context)
    const [login] = queries.list(test, { limit: 1 }).data
    return {
      ...guideData(context, 'messenger-login'),
      login,
      user: login && userOf(queries, test, login),
      link: login && query.link ? queries.linkOf(test, login.id, query.link) : undefined,
    }
  },

  view: (guide) => (
    <Guide
      goal="messenger-login"
      sentence="Users approve a sign-in in a chat with your bot. The test bot has a chat in your browser, so that you need no Telegram account."
      code={<Code newKey={guide.newKey} />}
    >
      <Steps {...guide} />
    </Guide>
  ),

  live: ({ newKey: _, ...guide }) => ({ [PROGRESS]: { facts: guide, view: <Steps {...guide} /> } }),

  actions: {
    start: {
      right: 'change',
      async run(context) {
        const { passepartout, actor, caller } = context
        const test = testBotOf(context)
        const bot = passepartout.bots
          .list(test.tenantId)
          .find(({ environment }) => environment === 'test')
        if (!bot?.enabled) await passepartout.bots.enable(actor, test)
        const { payload } = await passepartout.loginStart.begin(caller('passepartout', 'test'), {
          client: { label: 'First login' },
        })
        return { to: PATH, query: { link: payload } }
      },
    },
    key: createsKey({ engines: ['passepartout'], environment: 'test' }),
  },
})

const testBotOf = ({ tenantId }: PageContext) => ({ tenantId, environment: 'test' }) as const

function Steps({ login, user, link, next }: Omit<MessengerGuide, 'newKey'>) {
  const { may, hrefIn } = usePage()
  const isDone = login?.state === 'approved'
  return (
    <>
      <GuideSteps>
        <GuideStep title="Start a login" isDone={login !== undefined}>
          <Start login={login} />
        </GuideStep>
        <GuideStep title="Approve it in the chat" isDone={isDone}>
          {login && <Chat login={login} link={link} />}
        </GuideStep>
        <GuideStep title="See who signed in" isDone={isDone}>
          {isDone && (
            <p>
              {user ? (
                <a href={hrefIn('test', `/logins/users/${user.id}`)}>
                  <Text text={nameOf(user)} limit={MAX_NAME_LENGTH} />
                </a>
              ) : (
                'A user'
              )}{' '}
              approved it
              {login.ended_at !== null && (
                <>
                  {' '}
                  <Time at={Date.parse(login.ended_at)} />
                </>
              )}
              . <a href={hrefIn('test', `/logins/${login.id}`)}>View login</a>
            </p>
          )}
        </GuideStep>
      </GuideSteps>
      {isDone && (
        <Result
          next={next}
          more={
            may('change') && (
              <LinkButton href={hrefIn('live', '/bots')}>Connect your bot</LinkButton>
            )
          }
        >
          Your app gets the user and an access token. The login stays in the test environment. For
          real users, connect a bot of your own: its token from @BotFather is all it takes.
        </Result>
      )}
    </>
  )
}

function Start({ login }: Pick<MessengerGuide, 'login'>) {
  const { may, actionHref } = usePage()
  return (
    <>
      {!login && (
        <p class="hint">
          Enables the test bot and starts a login, as your app does for a user who wants to sign in.
        </p>
      )}
      {may('change') && (
        <ActionButton
          weight={login ? 'plain' : 'primary'}
          isSmall={login !== undefined}
          action={actionHref('start')}
        >
          {login ? 'Start another login' : 'Start login'}
        </ActionButton>
      )}
    </>
  )
}

function Chat({ login, link }: { login: LoginRecord; link: string | undefined }) {
  const { tone, word } = badgeOf(login)
  if (tone !== 'busy')
    return (
      <p class="quietrow">
        <StatusShape tone={tone} />
        <span>{capitalized(word)}</span>
      </p>
    )
  return (
    <>
      {login.match_code !== null && (
        <p>
          Select this number in the chat: <strong class="matchnumber">{login.match_code}</strong>
        </p>
      )}
      {link === undefined ? (
        <p class="hint">
          The link to the chat was shown once. Start another login to get a new one.
        </p>
      ) : (
        <a class="button primary" href={link} target="_blank" rel="noreferrer">
          Open chat
        </a>
      )}
      <Waiting>{capitalized(word)}</Waiting>
    </>
  )
}

function Code({ newKey }: Pick<GuideData, 'newKey'>) {
  const api = `${usePage().baseUrl()}/v1/passepartout`
  return (
    <GuideCode
      goal="messenger-login"
      newKey={newKey}
      note="With a test key, logins go to the test bot. With a live key, they go to your own bot."
      requests={(key) => [
        {
          title: 'curl: start a login',
          url: `${api}/login/start`,
          headers: jsonWith(key),
          body: { client: { label: 'Web shop' } },
        },
        {
          title: 'curl: wait for the result',
          url: `${api}/login/status?nonce=$NONCE&wait=25`,
          headers: { Authorization: `Bearer ${key}` },
        },
      ]}
    />
  )
}
