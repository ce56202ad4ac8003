import type { Decision } from '../../../../../src/engines/gate/authorization/model.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import { Facts } from '../../../facts.tsx'
import { LinkButton } from '../../../form/button.tsx'
import { Id } from '../../../id.tsx'
import { JsonView } from '../../../json-view.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { LongText, Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { capitalized } from '../../../words.ts'
import { Outcome } from './decisions.tsx'
import { POLICIES } from './state.ts'

/** One authorization decision: request, result and policies. */
export const DecisionPage = (page: {
  base: string
  now: number
  decision: Decision
  subject: IdentityDetail | undefined
  version: number
}) => {
  const { base, decision, subject } = page
  const { action, resource, context } = decision
  const again = url(base, POLICIES, {
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
                <a href={url(base, `/console/identities/${subject.id}`)}>
                  <Text text={subject.traits.email} />
                </a>
              ) : (
                <Text text={decision.subject} />
              ),
            ],
            ['Action', <Text text={action} />],
            ['Resource', <Text text={resource} />],
            ['Time', <Time at={Date.parse(decision.at)} now={page.now} />],
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
            ['Policy version', versionOf(decision.policies_version, page.version)],
          ]}
        />
      </Section>
      <Section id="raw" title="API object">
        <JsonView title="Decision" value={decision} />
      </Section>
    </>
  )
}

function versionOf(then: number, now: number): string {
  const name = then === 0 ? 'Starter set' : `Version ${then}`
  return then === now ? `${name} (current)` : `${name} (no longer current)`
}
