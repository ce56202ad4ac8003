import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { errorAt, Field } from '../../../../views/ui/form/field.tsx'
import { Form } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import type { FormError } from '../../../../views/ui/here.tsx'
import { Columns, Facts, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Question } from '../../../engines/gate/authorization/model.ts'
import type { PolicyDecision } from '../../../engines/gate/authorization/policy/policy-decision.ts'
import { isJsonObject, type JsonObject } from '../../../engines/gate/identities/documents/json.ts'
import type { IdentityDetail } from '../../../engines/gate/identities/model.ts'
import type { UserSummary } from '../../../engines/gate/identities/summaries.ts'
import { parseJson } from '../../../http/body.ts'
import { AppError, invalid, renamed } from '../../../platform/errors.ts'
import { submitted } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'

/** A request to evaluate. */
export interface Evaluation {
  values: Record<'subject' | 'action' | 'resource' | 'context', string>
  /** Undefined before the first request and for invalid ones. */
  result?: EvaluationResult
  errors?: readonly FormError[]
  /** Users whose email or name has the text of the subject. */
  people: readonly UserSummary[]
}

/** Result of a request, with what it is based on. */
interface EvaluationResult {
  decided: PolicyDecision
  question: Question
  /** Policies that decided, as source text. */
  policies: readonly { name: string; text: string }[]
  /** User of the request, if the subject is one. */
  subject: IdentityDetail | undefined
}

/** Most users that are suggested. */
const MAX_PEOPLE = 8

const FIELDS = { subject: 'subject', action: 'action', resource: 'resource', context: 'context' }

/** Evaluates the request in the query string, if it is complete. */
export async function evaluationOf(page: PageContext): Promise<Evaluation> {
  const { person, subject = person, action = '', resource = '', context = '' } = page.query
  const values = { subject: person ?? subject ?? '', action, resource, context }
  const people = peopleWith(page, values.subject)
  if (!isComplete(page.query)) return { values, people }
  const { value: result, errors } = await submitted(async () => resultOf(page, values), FIELDS)
  return { values, people, ...(errors ? { errors } : { result }) }
}

/** Whether a request is to be evaluated: not for a search, nor for a user chosen in an empty form. */
const isComplete = ({ subject, person, action, resource }: PageContext['query']): boolean =>
  subject !== undefined && action !== undefined && Boolean(!person || action || resource)

/** Users with this text in their email or name; none for the ID of a user. */
function peopleWith({ gate, caller }: PageContext, text: string): readonly UserSummary[] {
  const by = caller('gate', 'live')
  if (text === '' || gate.identities.find(by, text)) return []
  const order = { by: 'created', isDescending: true } as const
  return gate.users.list(by, { ...order, search: text, limit: MAX_PEOPLE }).data
}

function resultOf(
  { gate: { authorization, identities, policies }, ...page }: PageContext,
  { context, ...words }: Evaluation['values'],
): EvaluationResult {
  const caller = page.caller('gate', 'live')
  const question = { ...words, context: contextIn(context) }
  const decided = authorization.preview(caller, question)
  return {
    decided,
    question,
    policies: policies.named(caller, decided.policies),
    subject: identities.find(caller, question.subject),
  }
}

function contextIn(text: string): JsonObject {
  try {
    const value = parseJson(text.trim()) ?? {}
    if (isJsonObject(value)) return value
  } catch (error) {
    throw error instanceof AppError ? renamed(error, () => 'context') : error
  }
  throw invalid('must be a JSON object', { field: 'context', rule: 'type' })
}

/** Evaluates a request with the current policies, and explains the result. */
export const Trial = ({ evaluation }: { evaluation: Evaluation }) => {
  const { values, result, errors, people } = evaluation
  return (
    <Section
      id="try"
      title="Try it"
      note="Uses the saved policies. Requests are not logged or counted."
    >
      <Columns>
        <Form
          action={`${usePage().href('/policies')}#try`}
          method="get"
          errors={errors}
          buttons={<Button>Evaluate</Button>}
        >
          {/* The enter key presses the first button of a form, which is otherwise a user. */}
          <button type="submit" hidden>
            Evaluate
          </button>
          <Field
            name="subject"
            label="Subject"
            isMono
            value={values.subject}
            error={errorAt(errors, 'subject')}
            help="A user ID or the name of a service. To find a user, type a part of the email or name."
          />
          <People people={people} />
          <Field
            name="action"
            label="Action"
            isMono
            placeholder="document.read"
            value={values.action}
            error={errorAt(errors, 'action')}
          />
          <Field
            name="resource"
            label="Resource"
            isMono
            placeholder="document:42"
            value={values.resource}
            error={errorAt(errors, 'resource')}
          />
          <Textarea
            name="context"
            label="Context"
            isMono
            isRequired={false}
            rows={3}
            placeholder='{"ip": "203.0.113.7"}'
            value={values.context}
            error={errorAt(errors, 'context')}
            help="A JSON object with facts that your app would send."
          />
        </Form>
        {result ? (
          <div>
            <Explained {...result} />
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

/** Users to choose as subject: found while you type, or by the button of the form. */
const People = ({ people }: Pick<Evaluation, 'people'>) => (
  <div
    id="people"
    class="people"
    aria-live="polite"
    hx-get={usePage().href('/policies')}
    hx-trigger="input delay:200ms from:#field-subject"
    hx-include="#field-subject"
    hx-select="#people > *"
    hx-swap="innerHTML"
  >
    {people.length > 0 && (
      <ul aria-label="Users">
        {people.map(({ id, email, name }) => (
          <li>
            <button type="submit" name="person" value={id}>
              <Text text={name === '' ? email : name} limit={60} />
              {name !== '' && <Text text={email} limit={60} />}
            </button>
          </li>
        ))}
      </ul>
    )}
  </div>
)

const Explained = (of: EvaluationResult) => {
  const { decided, policies } = of
  return (
    <div class="stack">
      <p>
        <StatusBadge
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

function factsOf({ question, subject }: EvaluationResult) {
  const [address] = subject?.verifiable_addresses ?? []
  return [
    [
      'Subject',
      subject ? (
        <a href={usePage().href(`/identities/${subject.id}`)}>
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
  const prefixes = words.slice(1).map((_, index) => `${words.slice(0, index + 1).join('.')}.*`)
  return words.length === 1 ? ['*'] : ['*', ...prefixes, `*.${words.at(-1)}`]
}
