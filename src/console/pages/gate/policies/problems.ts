import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'
import type { AppError } from '../../../../platform/errors.ts'
import { asSentence } from '../../../form.ts'

export const OVERTAKEN: Problem = {
  message: 'The policies have changed since this form was opened; saving again replaces those.',
}

/** Everything that is wrong with the text, each with the line that it is in. */
export const problemsIn = ({ fieldErrors }: AppError, text: string): Problem[] => {
  const lines = text.split('\n')
  return fieldErrors.map(({ problem, at: place }) => {
    const message = asSentence(problem)
    return place ? { place, message, source: lines[place.line - 1] ?? '' } : { message }
  })
}
