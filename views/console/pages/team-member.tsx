import type { MemberRow } from '../../../src/console/operators/store/memberships.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Address } from '../address.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { Facts } from '../facts.tsx'
import { Button } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Form } from '../form/form.tsx'
import { errorAt, rawText } from '../form/values.ts'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { LEAVING, nameOf, REMOVING, ROLE_WORDS, RoleField } from './team-words.tsx'

/** One member of a team: role and removal. */
export const MemberPage = (page: {
  base: string
  tenantName: string
  member: MemberRow
  isYou: boolean
  isLastOwner: boolean
  mayDecide: boolean
  now: number
  values: Fields | undefined
  errors: readonly FormError[] | undefined
}) => {
  const { base, member, isYou, isLastOwner, mayDecide, now } = page
  const name = <Text text={nameOf(member)} limit={64} />
  const href = url(base, `/console/team/${member.id}`)
  return (
    <>
      <PageHead
        title={name}
        state={{
          sentence: `${ROLE_WORDS[member.role].label}${isYou ? ' (you)' : ''}. ${ROLE_WORDS[member.role].text}.`,
        }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Email', <Address {...member} limit={80} />],
            ['ID', <Id id={member.id} what="operator ID" />],
            ['Role', ROLE_WORDS[member.role].label],
            ['Joined', <Time at={member.createdAt} now={now} />],
          ]}
        />
      </Section>
      {mayDecide && (
        <Section
          id="role"
          title="Role"
          {...(!member.isVerified && member.role !== 'owner' && { note: UNVERIFIED })}
        >
          <Form
            action={href}
            errors={page.errors}
            hidden={{ email: member.email }}
            buttons={<Button>Change role</Button>}
          >
            <RoleField
              value={rawText(page.values, 'role') ?? member.role}
              error={errorAt(page.errors, 'role')}
              {...(isLastOwner && {
                help: 'This is the only owner. Add another owner before you change this role.',
              })}
            />
          </Form>
        </Section>
      )}
      {mayDecide && !isLastOwner && (
        <DangerZone
          items={[
            {
              title: isYou ? 'Leave the team' : 'Remove from the team',
              text: isYou
                ? 'You lose access to this tenant. Your account is kept.'
                : 'They lose access to this tenant. Their account is kept.',
              control: (
                <Confirm
                  id="remove"
                  verb={isYou ? 'Leave team' : 'Remove member'}
                  question={
                    isYou ? (
                      <>
                        Leave <Text text={page.tenantName} limit={48} />?
                      </>
                    ) : (
                      <>Remove {name}?</>
                    )
                  }
                  consequence={isYou ? LEAVING : REMOVING}
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
  'This email address is not verified, so the account may belong to someone else. You can give it a ' +
  'higher role once it is verified. Or remove the member and send a new invitation.'
