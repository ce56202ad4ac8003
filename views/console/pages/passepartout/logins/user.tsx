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
import { columns } from './list.tsx'
import { nameOf } from './marks.tsx'

/** Somebody who has signed in, as their messenger tells of them. */
export const LoginUserPage = (page: {
  base: string
  user: PersonRecord
  /** The latest that they took part in. */
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
        state={{ sentence: <>Last told of by their messenger {time(user.updated_at)}.</> }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={user.id} what="user id" />],
            ['Messenger', user.platform === 'sandbox' ? 'Test bot' : 'Telegram'],
            ['Account', <Id id={user.platform_user_id} what="account" />],
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
      <Section id="logins" title="Their sign-ins" note="The latest, as far as they are kept.">
        <DataTable
          caption="Sign-ins"
          columns={columns(now)}
          rows={page.logins}
          hrefOf={({ id }) => url(base, `/console/logins/${id}`)}
          idOf={({ id }) => id}
          empty={<p class="hint">None are kept any more.</p>}
        />
      </Section>
      {page.mayDelete && (
        <DangerZone
          items={[
            {
              title: 'Delete this user',
              text: 'Their tokens end. With the same account they come back as another user.',
              control: (
                <Confirm
                  id="delete"
                  verb="Delete user"
                  question="Delete this user?"
                  consequence="What is known of them is forgotten at once. Your app knows them no more by this id."
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
