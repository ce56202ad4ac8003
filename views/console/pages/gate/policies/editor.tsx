import { Events } from '../../../events.tsx'
import { Button } from '../../../form/button.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { shorten } from '../../../text.tsx'
import { url } from '../../../url.ts'
import type { PoliciesView } from './page.tsx'
import { POLICIES } from './state.ts'

/** Something that is wrong with a text, and where. */
export interface Problem {
  message: string
  place?: { line: number; column: number }
  /** The line that it is in. */
  source?: string
}

/** All policies as one text. What is wrong stands beside it, as far as that has a place there. */
export const Editor = ({ base, policies, typed, problems = [] }: PoliciesView) => {
  const text = typed ?? policies.policies
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
        label="Policies in the language Cedar"
        isMono
        rows={Math.min(28, Math.max(12, text.split('\n').length + 1))}
        value={text}
        error={problems[0] && summaryOf(problems[0]).message}
        help="All of them together, 32 KB at most. Nothing is allowed unless a policy permits it, and forbid beats permit."
      />
    </Form>
  )
}

const summaryOf = ({ message, place }: Problem) => ({
  name: 'policies',
  message: place === undefined ? message : `${placed(place)}: ${message}`,
})

const placed = ({ line, column }: NonNullable<Problem['place']>): string =>
  `Line ${line}, column ${column}`

/** The lines that are wrong, since nobody counts lines in a field. */
const Sources = ({ problems }: { problems: readonly Problem[] }) => {
  const placedOnes = problems.flatMap(({ place, source }) => (place ? [{ place, source }] : []))
  return placedOnes.length === 0 ? null : (
    <Events
      label="The lines that are wrong"
      events={placedOnes.map(({ place, source = '' }) => ({
        tone: 'bad',
        title: placed(place),
        text: <code>{shorten(source)}</code>,
      }))}
    />
  )
}
