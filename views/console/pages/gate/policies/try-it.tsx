import type { Question } from '../../../../../src/engines/gate/authorization/model.ts'
import type { PolicyDecision } from '../../../../../src/engines/gate/authorization/policy/policy-decision.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/identities/model.ts'
import { CodeBlock } from '../../../code-block.tsx'
import { Facts } from '../../../facts.tsx'
import { Button } from '../../../form/button.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { Columns, Section } from '../../../section.tsx'
import { StatusMark } from '../../../status-mark.tsx'
import { Text } from '../../../text.tsx'
import { url } from '../../../url.ts'
import { capitalized } from '../../../words.ts'
import { POLICIES } from './state.ts'

/** A request to evaluate. */
export interface Trial {
  typed: Record<'subject' | 'action' | 'resource' | 'context', string>
  /** Undefined before the first request and for invalid ones. */
  result?: TrialResult
  errors?: readonly FormError[]
}

/** Result of a request, with what it is based on. */
export interface TrialResult {
  decided: PolicyDecision
  question: Question
  /** Policies that decided, as source text. */
  policies: readonly { name: string; text: string }[]
  /** User of the request, if the subject is one. */
  subject: IdentityDetail | undefined
}

/** Evaluates a request with the current policies, and explains the result. */
export const TryIt = ({ base, trial }: { base: string; trial: Trial }) => {
  const { typed, result, errors } = trial
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  return (
    <Section
      id="try"
      title="Try it"
      note="Uses the saved policies. Requests are not logged or counted."
    >
      <Columns>
        <Form
          action={`${url(base, POLICIES)}#try`}
          method="get"
          errors={errors}
          buttons={<Button>Evaluate</Button>}
        >
          <Field
            name="subject"
            label="Subject"
            isMono
            value={typed.subject}
            error={messageAt('subject')}
            help="A user ID or the name of a service."
          />
          <Field
            name="action"
            label="Action"
            isMono
            placeholder="document.read"
            value={typed.action}
            error={messageAt('action')}
          />
          <Field
            name="resource"
            label="Resource"
            isMono
            placeholder="document:42"
            value={typed.resource}
            error={messageAt('resource')}
          />
          <Textarea
            name="context"
            label="Context"
            isMono
            isRequired={false}
            rows={3}
            placeholder='{"ip": "203.0.113.7"}'
            value={typed.context}
            error={messageAt('context')}
            help="A JSON object with facts that your app would send."
          />
        </Form>
        {result ? (
          <div>
            <Explained base={base} {...result} />
          </div>
        ) : (
          <p class="hint">
            The result includes its reason, the policies that decided, and the data about the
            subject.
          </p>
        )}
      </Columns>
    </Section>
  )
}

const Explained = (of: TrialResult & { base: string }) => {
  const { decided, policies } = of
  return (
    <div class="stack">
      <p>
        <StatusMark
          tone={decided.allowed ? 'good' : 'bad'}
          word={`${decided.allowed ? 'Allowed' : 'Denied'}: ${decided.reason}`}
        />
      </p>
      <Facts facts={factsOf(of)} />
      {policies.map(({ name, text }) => (
        <CodeBlock title={`Decided by ${name}`} what="policy">
          {text}
        </CodeBlock>
      ))}
      {policies.length === 0 && (
        <p class="hint">
          No policy permits this action. Instead of the action, a policy can name any of the groups
          above.
        </p>
      )}
    </div>
  )
}

function factsOf({ base, question, subject }: TrialResult & { base: string }) {
  const [address] = subject?.verifiable_addresses ?? []
  return [
    [
      'Subject',
      subject ? (
        <a href={url(base, `/console/identities/${subject.id}`)}>
          <Text text={subject.traits.email} />
        </a>
      ) : (
        <>
          <Text text={question.subject} /> <span class="hint">not a user of this tenant</span>
        </>
      ),
    ] as const,
    ...(subject
      ? ([
          ['Status', capitalized(subject.state)],
          ['Email', address?.verified ? 'Verified' : 'Not verified'],
          ['Roles', <Text text={rolesOf(subject) || 'None'} />],
        ] as const)
      : []),
    ['Action groups', <code>{groupsOf(question.action).join(', ')}</code>] as const,
  ]
}

function rolesOf({ metadata_public: metadata }: IdentityDetail): string {
  const roles = 'roles' in metadata ? metadata.roles : undefined
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string').join(', ') : ''
}

/** Groups of an action: `keys.read` is in `keys.*`, `*.read` and `*`. */
function groupsOf(action: string): string[] {
  const words = action.split('.')
  const fronts = words.slice(1).map((_, index) => `${words.slice(0, index + 1).join('.')}.*`)
  return words.length === 1 ? ['*'] : ['*', ...fronts, `*.${words.at(-1)}`]
}
