import type { Question } from '../../../../src/engines/gate/model/authorization.ts'
import type { Policies } from '../../../../src/engines/gate/model/settings.ts'
import type { Decided } from '../../../../src/engines/gate/policy/decided.ts'
import { CodeBlock } from '../../code-block.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { Events } from '../../events.tsx'
import { Button } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { shorten } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'

const PATH = '/console/policies'

/** Something that is wrong with a text, and where. */
export interface Problem {
  message: string
  place?: { line: number; column: number }
  /** The line that it is in. */
  source?: string
}

/** A question that somebody tries, and what the answer would be. */
interface Trial {
  question: Question | undefined
  decided: Decided | undefined
  errors: readonly FormError[] | undefined
}

interface PoliciesView {
  base: string
  now: number
  policies: Policies
  starterSet: string
  mayChange: boolean
  trial: Trial
  typed?: string
  problems?: readonly Problem[]
}

/** By what questions are answered. */
export const PoliciesPage = (page: PoliciesView) => {
  const { base, now, policies, mayChange } = page
  return (
    <>
      <PageHead title="Policies" state={{ sentence: <InForce policies={policies} now={now} /> }} />
      {mayChange ? <Editor {...page} /> : <CodeBlock title="Cedar">{policies.policies}</CodeBlock>}
      <TryIt {...page} />
      {!policies.is_starter_set && (
        <Section id="starter" title="The starter set">
          <details class="fold">
            <summary>What a tenant begins with</summary>
            <CodeBlock title="Cedar">{page.starterSet}</CodeBlock>
          </details>
        </Section>
      )}
      {mayChange && !policies.is_starter_set && (
        <DangerZone
          items={[
            {
              title: 'Go back to the starter set',
              text: 'It takes the place of the policies above, which nobody keeps.',
              control: (
                <Confirm
                  id="starter-set"
                  verb="Take starter set"
                  question="Go back to the starter set?"
                  consequence="Copy your policies first if you may want them again."
                  action={url(base, `${PATH}/starter`)}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

/** What is wrong stands beside it, as far as that has a place in the text. */
const Editor = ({ base, policies, typed, problems = [] }: PoliciesView) => {
  const form = (
    <Form
      action={url(base, PATH)}
      errors={problems.map(summaryOf)}
      hidden={{ version: String(policies.version) }}
      buttons={<Button weight="primary">Save policies</Button>}
    >
      <Textarea
        name="policies"
        label="Policies in the language Cedar"
        isMono
        rows={28}
        value={typed ?? policies.policies}
        error={problems[0] && summaryOf(problems[0]).message}
        help="All of them together, 32 KB at most. Nothing is allowed unless a policy permits it, and forbid beats permit."
      />
    </Form>
  )
  return problems.some(({ place }) => place !== undefined) ? (
    <Columns>
      {form}
      <Problems problems={problems} />
    </Columns>
  ) : (
    form
  )
}

const TryIt = ({ base, trial }: PoliciesView) => {
  const { question, decided, errors } = trial
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  return (
    <Section
      id="try"
      title="Try it"
      note="By the policies in force. Nothing of it is kept or counted."
    >
      {decided && (
        <p>
          <StatusMark
            tone={decided.allowed ? 'good' : 'bad'}
            word={`${decided.allowed ? 'Allowed' : 'Not allowed'}: ${decided.reason}`}
          />
        </p>
      )}
      <Form
        action={`${url(base, PATH)}#try`}
        method="get"
        errors={errors}
        buttons={<Button>Ask</Button>}
      >
        <Field
          name="subject"
          label="Who"
          isMono
          value={question?.subject}
          error={messageAt('subject')}
          help="The id of an identity, or the name of a service."
        />
        <Field
          name="action"
          label="May do"
          isMono
          placeholder="document.read"
          value={question?.action}
          error={messageAt('action')}
        />
        <Field
          name="resource"
          label="With"
          isMono
          placeholder="document:42"
          value={question?.resource}
          error={messageAt('resource')}
        />
      </Form>
    </Section>
  )
}

const InForce = ({ policies, now }: { policies: Policies; now: number }) => {
  const { is_starter_set: isStarterSet, version, updated_at: at } = policies
  return (
    <>
      {isStarterSet ? 'The starter set is in force' : `Version ${version} is in force`}
      {at === null ? ', as it comes.' : ', since '}
      {at !== null && <Time at={Date.parse(at)} now={now} />}
      {at !== null && '.'}
    </>
  )
}

const summaryOf = ({ message, place }: Problem) => ({
  name: 'policies',
  message: place === undefined ? message : `${placed(place)}: ${message}`,
})

const placed = ({ line, column }: NonNullable<Problem['place']>): string =>
  `Line ${line}, column ${column}`

/** Each with the line that it is about, since nobody counts lines in a field. */
const Problems = ({ problems }: { problems: readonly Problem[] }) => (
  <Events
    label="What is wrong"
    events={problems.map(({ place, message, source }) => ({
      tone: 'bad',
      title: summaryOf({ message, ...(place && { place }) }).message,
      text: source && <code>{shorten(source)}</code>,
    }))}
  />
)
