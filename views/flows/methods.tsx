import type { FlowPage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Node } from '../../src/engines/gate/sign-in/model.ts'
import { isFolded } from './focus.ts'
import { FormOf } from './form.tsx'
import type { Form } from './forms.ts'
import type { Words } from './words.ts'

interface Parts {
  page: FlowPage
  forms: Form[]
  words: Words
  account?: string
  focused?: Node
}

/** Alternative methods, one below the other. */
export const Methods = ({ page, forms, words, account, focused }: Parts) => (
  <>
    {forms.map((form, position) => {
      const drawn = (
        <FormOf
          form={form}
          action={page.flow.ui.action}
          words={words}
          account={account}
          focused={focused}
        />
      )
      if (isFolded(form, forms, page))
        return (
          <details class="another">
            <summary>{words.useRecoveryCode}</summary>
            {drawn}
          </details>
        )
      return (
        <>
          {position > 0 && !form.isSecondary && <Or word={words.or} />}
          {drawn}
        </>
      )
    })}
  </>
)

const Or = ({ word }: { word: string }) => (
  <p class="or">
    <span>{word}</span>
  </p>
)
