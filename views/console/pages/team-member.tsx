import { asTyped, errorAt } from '../../../src/console/form.ts'
import type { MemberRow } from '../../../src/console/operators/store/memberships.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Address } from '../address.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { Facts } from '../facts.tsx'
import { Button } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { nameOf, OF_THEIRS, ROLE_WORDS, RoleField } from './team-words.tsx'

/** One person of the team: since when, as what, and the end of it. */
export const MemberPage = (page: {
  base: string
  tenantName: string
  member: MemberRow
  isVisitor: boolean
  isLastOwner: boolean
  mayDecide: boolean
  now: number
  typed: Fields | undefined
  errors: readonly FormError[] | undefined
}) => {
  const { base, member, isVisitor, isLastOwner, mayDecide, now } = page
  const name = <Text text={nameOf(member)} limit={64} />
  const href = url(base, `/console/team/${member.id}`)
  return (
    <>
      <PageHead
        title={name}
        state={{
          sentence: `${ROLE_WORDS[member.role].label}${isVisitor ? ', and this is you' : ''}. ${ROLE_WORDS[member.role].text}.`,
        }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['E-mail', <Address {...member} limit={80} />],
            ['Id', <Id id={member.id} what="operator id" />],
            ['Role', ROLE_WORDS[member.role].label],
            ['Since', <Time at={member.createdAt} now={now} />],
          ]}
        />
      </Section>
      {mayDecide && (
        <Section
          id="role"
          title="Change the role"
          {...(!member.isVerified && member.role !== 'owner' && { note: UNVERIFIED })}
        >
          <Form
            action={href}
            errors={page.errors}
            hidden={{ email: member.email }}
            buttons={<Button>Change role</Button>}
          >
            <RoleField
              value={page.typed ? asTyped(page.typed, 'role') : member.role}
              error={errorAt(page.errors, 'role')}
              {...(isLastOwner && {
                help: 'This is the only owner. Make somebody else an owner first.',
              })}
            />
          </Form>
        </Section>
      )}
      {mayDecide && !isLastOwner && (
        <DangerZone
          items={[
            {
              title: isVisitor ? 'Leave the team' : 'Remove from the team',
              text: 'The account stays; it has no part in this tenant any more.',
              control: (
                <Confirm
                  id="remove"
                  verb={isVisitor ? 'Leave team' : 'Remove member'}
                  question={
                    isVisitor ? (
                      <>
                        Leave <Text text={page.tenantName} limit={48} />?
                      </>
                    ) : (
                      <>Remove {name}?</>
                    )
                  }
                  consequence={`It counts at once, whatever is open. ${OF_THEIRS}`}
                  action={`${href}/remove`}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

const UNVERIFIED =
  'This address is not verified, so the account may belong to someone else. It gets no higher role ' +
  'until it is verified; or remove it from the team and send a new invitation.'
