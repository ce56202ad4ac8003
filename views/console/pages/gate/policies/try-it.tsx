import type { Question } from '../../../../../src/engines/gate/model/authorization.ts'
import type { IdentityDetail } from '../../../../../src/engines/gate/model/identities.ts'
import type { Decided } from '../../../../../src/engines/gate/policy/decided.ts'
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
import type { PoliciesView } from './page.tsx'
import { POLICIES } from './state.ts'

/** A question that somebody tries. */
export interface Trial {
  typed: Record<'subject' | 'action' | 'resource' | 'context', string>
  /** None until somebody asks, and of a question that is none. */
  verdict?: Verdict
  errors?: readonly FormError[]
}

/** What the answer would be, and all that it went by. */
export interface Verdict {
  decided: Decided
  question: Question
  /** Those that decided, as they are written. */
  policies: readonly { name: string; text: string }[]
  /** The person that the question is about, if it is about one. */
  subject: IdentityDetail | undefined
}

/** Answers a question by the policies in force, and says why. */
export const TryIt = ({ base, trial }: PoliciesView) => {
  const { typed, verdict, errors } = trial
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  return (
    <Section
      id="try"
      title="Try it"
      note="By the policies in force. Nothing of it is kept or counted."
    >
      <Columns>
        <Form
          action={`${url(base, POLICIES)}#try`}
          method="get"
          errors={errors}
          buttons={<Button>Ask</Button>}
        >
          <Field
            name="subject"
            label="Who"
            isMono
            value={typed.subject}
            error={messageAt('subject')}
            help="The id of an identity, or the name of a service."
          />
          <Field
            name="action"
            label="May do"
            isMono
            placeholder="document.read"
            value={typed.action}
            error={messageAt('action')}
          />
          <Field
            name="resource"
            label="With"
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
            help="A JSON object: facts that your program would send along."
          />
        </Form>
        {verdict ? (
          <div>
            <Explained base={base} {...verdict} />
          </div>
        ) : (
          <p class="hint">
            The answer comes with its reason: the policies that decided as they are written, and
            what is known of whoever asks.
          </p>
        )}
      </Columns>
    </Section>
  )
}

const Explained = (of: Verdict & { base: string }) => {
  const { decided, policies } = of
  return (
    <div class="stack">
      <p>
        <StatusMark
          tone={decided.allowed ? 'good' : 'bad'}
          word={`${decided.allowed ? 'Allowed' : 'Not allowed'}: ${decided.reason}`}
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
          No policy spoke for it, and what nothing permits is not allowed. The groups above are what
          a policy can name in place of the action.
        </p>
      )}
    </div>
  )
}

function factsOf({ base, question, subject }: Verdict & { base: string }) {
  const [address] = subject?.verifiable_addresses ?? []
  return [
    [
      'Who',
      subject ? (
        <a href={url(base, `/console/identities/${subject.id}`)}>
          <Text text={subject.traits.email} />
        </a>
      ) : (
        <>
          <Text text={question.subject} /> <span class="hint">no identity of this tenant</span>
        </>
      ),
    ] as const,
    ...(subject
      ? ([
          ['State', subject.state],
          ['Address', address?.verified ? 'verified' : 'not verified'],
          ['Roles', <Text text={rolesOf(subject) || 'none'} />],
        ] as const)
      : []),
    ['Groups of the action', <code>{groupsOf(question.action).join(', ')}</code>] as const,
  ]
}

function rolesOf({ metadata_public: metadata }: IdentityDetail): string {
  const roles = 'roles' in metadata ? metadata.roles : undefined
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string').join(', ') : ''
}

/** As policies see it: `keys.read` is in `keys.*`, in `*.read` and in `*`. */
function groupsOf(action: string): string[] {
  const words = action.split('.')
  const fronts = words.slice(1).map((_, index) => `${words.slice(0, index + 1).join('.')}.*`)
  return words.length === 1 ? ['*'] : ['*', ...fronts, `*.${words.at(-1)}`]
}
