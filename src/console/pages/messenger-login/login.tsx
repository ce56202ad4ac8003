import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { qrCode } from '../../../engines/gate/credentials/second-factor/qr-code.ts'
import type {
  LoginRecord,
  Passepartout,
  PersonRecord,
} from '../../../engines/passepartout/index.ts'
import type { Owner } from '../../../engines/passepartout/owner.ts'
import { AppError } from '../../../platform/errors.ts'
import { page, usePage } from '../../page.tsx'
import { badgeOf, deviceWords, UserLink } from './logins.tsx'

/** One sign-in by messenger: progress, client and result. Refreshes while it is pending. */
export const loginPage = page({
  path: '/logins/:id',
  section: 'logins',
  hasEnvironments: true,
  right: 'read',
  title: 'Sign-in',

  load({ passepartout: { queries }, tenantId, environment, params, query, href }) {
    const owner = { tenantId, environment }
    const login = queries.get(owner, params.id)
    const link = query.link && queries.linkOf(owner, login.id, query.link)
    return {
      login,
      user: userOf(queries, owner, login),
      /** Link of a test login that this operator started. */
      invitation: link ? { link, qrCode: qrCode(link) } : undefined,
      here: href(`/logins/${login.id}`, { link: query.link }),
    }
  },

  view({ login, user, invitation, here }) {
    const { href } = usePage()
    const time = (at: string | null) => (at === null ? undefined : <Time at={Date.parse(at)} />)
    const isWaiting = badgeOf(login).tone === 'busy'
    return (
      <div id="login">
        {isWaiting && <AutoRefresh id="login" here={here} />}
        <PageHead
          title={login.client_label ? <Text text={login.client_label} limit={64} /> : 'Sign-in'}
          state={{ tone: badgeOf(login).tone, sentence: sentenceOn(login, user) }}
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
              ['User', user ? <UserLink user={user} /> : undefined],
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
                <a href={href('/bots')}>
                  {login.environment === 'live' ? 'Live bot' : 'Test bot'}
                </a>,
              ],
              ['ID', <Id id={login.id} what="sign-in ID" />],
            ]}
          />
        </Section>
      </div>
    )
  },
})

/** User who approved a login; undefined if deleted. */
export function userOf(
  queries: Passepartout['queries'],
  owner: Owner,
  { user_id: id }: LoginRecord,
): PersonRecord | undefined {
  if (id === null) return undefined
  try {
    return queries.person(owner, id)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
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

function sentenceOn(login: LoginRecord, user: PersonRecord | undefined) {
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
          Approved by <UserLink user={user} />
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
