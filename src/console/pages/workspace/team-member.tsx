import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Address, shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { fail, notFound } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import type { MemberRow } from '../../operators/memberships.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { LEAVING, LEFT, nameOf, REMOVING, ROLE_WORDS, RoleField, roleIn } from './team.tsx'

/** One member of a team: role and removal. */
export const memberPage = page({
  path: '/team/:id',
  section: 'team',
  right: 'read',

  load(context) {
    const members = context.operators.memberships.list(context.tenantId)
    const owners = members.filter(({ role }) => role === 'owner')
    const member = existing(context, context.params.id)
    return { member, isLastOwner: member.role === 'owner' && owners.length === 1 }
  },

  title: ({ member }) => shorten(nameOf(member), 60),

  view({ member, isLastOwner }) {
    const { may, operator, tenant, actionHref } = usePage()
    const isYou = operator.id === member.id
    const name = <Text text={nameOf(member)} limit={64} />
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
              ['Joined', <Time at={member.createdAt} />],
            ]}
          />
        </Section>
        {may('team') && (
          <Section
            id="role"
            title="Role"
            {...(!member.isVerified && { note: <Unverified isYou={isYou} role={member.role} /> })}
          >
            <PageForm
              action=""
              hidden={{ email: member.email }}
              buttons={<Button>Change role</Button>}
            >
              <RoleField
                value={member.role}
                {...(isLastOwner && {
                  help: 'This is the only owner. Add another owner before you change this role.',
                })}
              />
            </PageForm>
          </Section>
        )}
        {may('team') && !isLastOwner && (
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
                          Leave <Text text={tenant.name} limit={48} />?
                        </>
                      ) : (
                        <>Remove {name}?</>
                      )
                    }
                    consequence={isYou ? LEAVING : REMOVING}
                    action={actionHref('remove')}
                  />
                ),
              },
            ]}
          />
        )}
      </>
    )
  },

  actions: {
    '': {
      right: 'team',
      form: { role: 'role', '': 'role' },
      flash: good('Role changed.'),
      run: (context) => {
        const { operators, tenantId, actor, params, fields } = context
        const email = trimmedText(fields, 'email') || existing(context, params.id).email
        const member = { id: params.id, email }
        return operators.memberships.change(actor, tenantId, member, roleIn(fields))
      },
    },
    remove: {
      right: 'team',
      flash: good('Member removed.'),
      async run({ operators, tenantId, operator, actor, params }) {
        await operators.memberships.remove(actor, tenantId, params.id)
        return params.id === operator.id ? LEFT : { to: '/team' }
      },
    },
  },
})

const existing = ({ operators, tenantId }: PageContext, id: string): MemberRow =>
  operators.memberships.list(tenantId).find((member) => member.id === id) ??
  fail(notFound('member not found'))

/** How the address of a member is verified. */
function Unverified({ isYou, role }: { isYou: boolean; role: MemberRow['role'] }) {
  const { mail, href } = usePage()
  if (isYou)
    return (
      <>
        Your email address is not verified. Verify it under <a href={href('/account')}>Account</a>.
      </>
    )
  return (
    <>
      This email address is not verified, so the account may belong to someone else.
      {role !== 'owner' && ' You can give it a higher role once it is verified.'}{' '}
      {mail.hasServer ? (
        'They verify it under Account. Or remove the member and send a new invitation.'
      ) : (
        <>
          Verification emails can't be sent yet. <NoMailServer />
        </>
      )}
    </>
  )
}
