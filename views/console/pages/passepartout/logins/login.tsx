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
import { capitalized } from '../../../words.ts'
import { badgeOf, deviceWords, UserLink } from './badges.tsx'

/** Refresh interval while a sign-in is pending. */
const POLL = 'every 2s'

/** One sign-in by messenger: progress, client and result. Refreshes while it is pending. */
export const LoginPage = (page: {
  base: string
  login: LoginRecord
  /** User who approved it; undefined if deleted. */
  user: PersonRecord | undefined
  /** Link of a test login that this operator started. */
  invitation: { link: string; qrCode: string } | undefined
  /** Address of this page. */
  here: string
  now: number
}) => {
  const { base, login, user, invitation, here, now } = page
  const time = (at: string | null) =>
    at === null ? undefined : <Time at={Date.parse(at)} now={now} />
  const isWaiting = badgeOf(login).tone === 'busy'
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
        state={{ tone: badgeOf(login).tone, sentence: sentenceOn(login, user, base) }}
        aside={isWaiting && <LinkButton href={here}>Refresh</LinkButton>}
      />
      {invitation && <Invitation {...invitation} matchCode={login.match_code} />}
      <Section id="what" title="Progress" isCard>
        <Facts
          facts={[
            ['Started', time(login.created_at)],
            ['Opened', time(login.opened_at)],
            [login.state === 'approved' ? 'Approved' : 'Ended', time(login.ended_at)],
            [login.is_expired ? 'Expired' : 'Expires', time(login.expires_at)],
            ['Prompted', timesOf(login.prompts)],
            ['User', user ? <UserLink base={base} user={user} /> : undefined],
          ]}
        />
      </Section>
      <Section id="where" title="Client" isCard>
        <Facts
          facts={[
            ['Label', login.client_label ? <Text text={login.client_label} /> : undefined],
            ['Device', deviceWords(login) || undefined],
            ['IP address', login.client_ip ? <Text text={login.client_ip} /> : undefined],
            ['Number to match', login.match_code ?? 'None'],
            ['Environment', capitalized(login.environment)],
            [
              'Bot',
              <a href={url(base, `/console/bots/${login.environment}`)}>
                {login.environment === 'live' ? 'Live bot' : 'Test bot'}
              </a>,
            ],
            ['ID', <Id id={login.id} what="sign-in ID" />],
          ]}
        />
      </Section>
    </div>
  )
}

const timesOf = (count: number): string =>
  count === 0 ? 'Not yet' : count === 1 ? 'Once' : `${count} times`

const Invitation = (of: { link: string; qrCode: string; matchCode: string | null }) => (
  <Section
    id="try"
    title="Try it"
    note="Open the link or scan the QR code. The first person to open it is asked to approve."
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
      ? 'Expired before the link was opened'
      : 'Expired: opened, but not answered in time'
  switch (login.state) {
    case 'pending':
      return 'Waiting for the link to be opened'
    case 'opened':
      return 'Opened, waiting for approval'
    case 'approved':
      return user ? (
        <>
          Approved by <UserLink base={base} user={user} />
        </>
      ) : (
        'Approved by a user who has been deleted'
      )
    case 'denied':
      return 'Denied by the user'
    case 'mismatched':
      return 'Failed: the user selected the wrong number'
  }
}
