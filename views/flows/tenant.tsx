import { shownName } from './name.ts'

const PLACE = '{tenant}'

/**
 * A sentence with the tenant's name, which is isolated so that its text direction does not affect
 * the rest.
 */
export const Sentence = ({ text, name }: { text: string; name: string }) => {
  const [before, after] = text.split(PLACE)
  return (
    <>
      {before}
      {after !== undefined && <bdi>{shownName(name)}</bdi>}
      {after}
    </>
  )
}

/** The same as plain text, for titles. */
export const sentence = (text: string, name: string): string =>
  text.split(PLACE).join(shownName(name))
