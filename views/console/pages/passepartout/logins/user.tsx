import type { LoginRecord, PersonRecord } from '../../../../../src/engines/passepartout/index.ts'
import { Confirm, DangerZone } from '../../../confirm.tsx'
import { DataTable } from '../../../data-table.tsx'
import { Facts } from '../../../facts.tsx'
import { Id } from '../../../id.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { nameOf } from './badges.tsx'
import { columns } from './list.tsx'

/** A user who signed in by messenger. */
export const LoginUserPage = (page: {
  base: string
  user: PersonRecord
  /** Latest sign-ins of the user. */
  logins: readonly LoginRecord[]
  mayDelete: boolean
  now: number
}) => {
  const { base, user, now } = page
  const time = (at: string) => <Time at={Date.parse(at)} now={now} />
  return (
    <>
      <PageHead
        title={<Text text={nameOf(user)} limit={64} />}
        state={{ sentence: <>Profile last updated {time(user.updated_at)}</> }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['ID', <Id id={user.id} what="user ID" />],
            ['Messenger', user.platform === 'sandbox' ? 'Test bot' : 'Telegram'],
            ['Messenger ID', <Id id={user.platform_user_id} what="messenger ID" />],
            ['Username', user.username ? <Text text={`@${user.username}`} /> : undefined],
            ['First name', <Text text={user.first_name} />],
            ['Last name', user.last_name ? <Text text={user.last_name} /> : undefined],
            [
              'Language',
              user.language_code ? <Text text={user.language_code} limit={16} /> : undefined,
            ],
            ['First seen', time(user.created_at)],
          ]}
        />
      </Section>
      <Section id="logins" title="Sign-ins" note="Latest sign-ins.">
        <DataTable
          caption="Sign-ins"
          columns={columns(now)}
          rows={page.logins}
          hrefOf={({ id }) => url(base, `/console/logins/${id}`)}
          idOf={({ id }) => id}
          empty={<p class="hint">No sign-ins stored</p>}
        />
      </Section>
      {page.mayDelete && (
        <DangerZone
          items={[
            {
              title: 'Delete user',
              text: 'Revokes their tokens. If they sign in again, they get a new user ID.',
              control: (
                <Confirm
                  id="delete"
                  verb="Delete user"
                  question="Delete this user?"
                  consequence="Deletes their data immediately. Your app can't look them up by this ID anymore."
                  action={url(base, `/console/logins/users/${user.id}/delete`)}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}
