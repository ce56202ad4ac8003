import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { page, usePage } from '../../page.tsx'
import { Outcome } from './decisions.tsx'

/** One authorization decision: request, result and policies. */
export const decisionPage = page({
  path: '/policies/decisions/:id',
  section: 'policies',
  right: 'read',

  load({ gate, params, ...context }) {
    const caller = context.caller('gate', 'live')
    const decision = gate.decisions.get(caller, params.id)
    const { is_starter_set: isStarterSet, version } = gate.policies.get(caller)
    return {
      decision,
      subject: gate.identities.find(caller, decision.subject),
      version: isStarterSet ? 0 : version,
    }
  },

  title: ({ decision }) => decision.action,
  above: (_, { href }) => [{ label: 'Decisions', href: href('/policies/decisions') }],

  view({ decision, subject, version }) {
    const { href } = usePage()
    const { action, resource, context } = decision
    const again = href('/policies', {
      subject: decision.subject,
      action,
      resource,
      context: Object.keys(context).length === 0 ? undefined : JSON.stringify(context),
    })
    return (
      <>
        <PageHead
          title={<Text text={action} limit={64} />}
          state={{
            tone: decision.allowed ? 'good' : 'bad',
            sentence: <LongText text={`${capitalized(decision.reason)}.`} />,
          }}
          action={<LinkButton href={`${again}#try`}>Evaluate again</LinkButton>}
        />
        <Section id="question" title="Request" isCard>
          <Facts
            facts={[
              [
                'Subject',
                subject ? (
                  <a href={href(`/identities/${subject.id}`)}>
                    <Text text={subject.traits.email} />
                  </a>
                ) : (
                  <Text text={decision.subject} />
                ),
              ],
              ['Action', <Text text={action} />],
              ['Resource', <Text text={resource} />],
              ['Time', <Time at={Date.parse(decision.at)} />],
              ['Environment', capitalized(decision.environment)],
              ['ID', <Id id={decision.decision_id} what="decision ID" />],
            ]}
          />
          {Object.keys(context).length > 0 && <JsonView title="Context" value={context} />}
        </Section>
        <Section id="answer" title="Decision" isCard>
          <Facts
            facts={[
              ['Result', <Outcome {...decision} />],
              ['Decided by', <Text text={decision.policies.join(', ') || 'No policy'} />],
              ['Policy version', versionOf(decision.policies_version, version)],
            ]}
          />
        </Section>
        <Section id="raw" title="API object">
          <JsonView title="Decision" value={decision} />
        </Section>
      </>
    )
  },
})

function versionOf(then: number, now: number): string {
  const name = then === 0 ? 'Starter set' : `Version ${then}`
  return then === now ? `${name} (current)` : `${name} (no longer current)`
}
