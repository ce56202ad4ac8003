import type { LoginRecord, PersonRecord } from '../../../../../src/engines/passepartout/index.ts'
import { CodeBlock } from '../../../code-block.tsx'
import { Facts } from '../../../facts.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Id } from '../../../id.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { deviceWords, markOf, UserLink } from './marks.tsx'

/** How often a page looks whether a sign-in has moved on: it ends with the element that asks. */
const POLL = 'every 2s'

/** One attempt: what happened, from where it came, why it ended. It follows along while it waits. */
export const LoginPage = (page: {
  base: string
  login: LoginRecord
  /** Whoever approved it, as long as they are known. */
  user: PersonRecord | undefined
  /** How to take part in it, for whoever has just started it. */
  invitation: { link: string; qrCode: string } | undefined
  /** The address of this very page. */
  here: string
  now: number
}) => {
  const { base, login, user, invitation, here, now } = page
  const time = (at: string | null) =>
    at === null ? undefined : <Time at={Date.parse(at)} now={now} />
  const isWaiting = markOf(login).tone === 'busy'
  return (
    <div id="login">
      {isWaiting && (
        <span
          id="login-watch"
          hidden
          hx-get={here}
          hx-trigger={POLL}
          hx-target="#login"
          hx-select="#login"
          hx-swap="outerMorph"
        />
      )}
      <PageHead
        title={login.client_label ? <Text text={login.client_label} limit={64} /> : 'Sign-in'}
        state={{ tone: markOf(login).tone, sentence: sentenceOn(login, user, base) }}
        aside={isWaiting && <LinkButton href={here}>Look again</LinkButton>}
      />
      {invitation && <Invitation {...invitation} matchCode={login.match_code} />}
      <Section id="what" title="What happened" isCard>
        <Facts
          facts={[
            ['Started', time(login.created_at)],
            ['Opened', time(login.opened_at)],
            [login.state === 'approved' ? 'Approved' : 'Answered', time(login.ended_at)],
            [login.is_expired ? 'Expired' : 'Good until', time(login.expires_at)],
            ['Question put', timesOf(login.prompts)],
            ['User', user ? <UserLink base={base} user={user} /> : undefined],
          ]}
        />
      </Section>
      <Section id="where" title="Where it began" isCard>
        <Facts
          facts={[
            ['Label', login.client_label ? <Text text={login.client_label} /> : undefined],
            ['Device', deviceWords(login) || undefined],
            ['Address', login.client_ip ? <Text text={login.client_ip} /> : undefined],
            ['Number to match', login.match_code ?? 'none asked for'],
            ['Data', login.environment],
            [
              'Bot',
              <a href={url(base, `/console/bots/${login.environment}`)}>
                {login.environment === 'live' ? 'Live bot' : 'Test bot'}
              </a>,
            ],
            ['Id', <Id id={login.id} what="id of the sign-in" />],
          ]}
        />
      </Section>
    </div>
  )
}

const timesOf = (count: number): string =>
  count === 0 ? 'not yet' : count === 1 ? 'once' : `${count} times`

const Invitation = (of: { link: string; qrCode: string; matchCode: string | null }) => (
  <Section
    id="take-part"
    title="Take part"
    note="Follow the link, or point a phone at the code. Whoever opens it first is asked."
    aside={
      <a class="button primary" href={of.link} target="_blank" rel="noreferrer">
        Open link
      </a>
    }
    isCard
  >
    {of.matchCode !== null && (
      <p>
        The bot asks for this number: <strong>{of.matchCode}</strong>
      </p>
    )}
    <p>
      <img src={of.qrCode} width="256" height="256" alt="QR code of the link below" />
    </p>
    <CodeBlock title="Link" wraps>
      {of.link}
    </CodeBlock>
  </Section>
)

function sentenceOn(login: LoginRecord, user: PersonRecord | undefined, base: string) {
  if (login.is_expired)
    return login.state === 'pending'
      ? 'Expired: nobody opened the link in time.'
      : 'Expired: it was opened, and not answered in time.'
  switch (login.state) {
    case 'pending':
      return 'Waits: nobody has opened the link yet.'
    case 'opened':
      return 'Opened; the bot waits for an answer.'
    case 'approved':
      return user ? (
        <>
          Approved by <UserLink base={base} user={user} />.
        </>
      ) : (
        'Approved, by somebody who has been deleted since.'
      )
    case 'denied':
      return 'Denied: whoever was asked said that it was not them.'
    case 'mismatched':
      return 'Ended: a number was chosen that the app did not show.'
  }
}
