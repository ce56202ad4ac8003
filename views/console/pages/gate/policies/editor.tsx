import type { Policies } from '../../../../../src/engines/gate/settings/model.ts'
import { Events } from '../../../events.tsx'
import { Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { shorten } from '../../../text.tsx'
import { url } from '../../../url.ts'
import { POLICIES } from './state.ts'

/** An error in the policies, with its position. */
export interface Problem {
  message: string
  position?: { line: number; column: number }
  /** Text of the line. */
  source?: string
}

interface EditorProps {
  base: string
  policies: Policies
  /** Rejected policies, as typed. */
  input?: string
  problems?: readonly Problem[]
}

/** Editor for all policies as one text, with the lines that have errors. */
export const Editor = ({ base, policies, input, problems = [] }: EditorProps) => {
  const text = input ?? policies.policies
  return (
    <Form
      action={url(base, POLICIES)}
      errors={problems.map(summaryOf)}
      hidden={{ version: String(policies.version) }}
      buttons={<Button weight="primary">Save policies</Button>}
    >
      <Sources problems={problems} />
      <Textarea
        name="policies"
        label="Cedar policies"
        isMono
        rows={Math.min(28, Math.max(12, text.split('\n').length + 1))}
        value={text}
        error={problems[0] && summaryOf(problems[0]).message}
        help="At most 32 KB in total. Nothing is allowed unless a policy permits it. A forbid policy overrides permit policies."
      />
    </Form>
  )
}

const summaryOf = ({ message, position }: Problem) => ({
  name: 'policies',
  message: position === undefined ? message : `${positioned(position)}: ${message}`,
})

const positioned = ({ line, column }: NonNullable<Problem['position']>): string =>
  `Line ${line}, column ${column}`

/** Lines with errors, because text fields show no line numbers. */
const Sources = ({ problems }: { problems: readonly Problem[] }) => {
  const positionedOnes = problems.flatMap(({ position, source }) =>
    position ? [{ position, source }] : [],
  )
  return positionedOnes.length === 0 ? null : (
    <Events
      label="Lines with errors"
      events={positionedOnes.map(({ position, source = '' }) => ({
        tone: 'bad',
        title: positioned(position),
        text: <code>{shorten(source)}</code>,
      }))}
    />
  )
}
