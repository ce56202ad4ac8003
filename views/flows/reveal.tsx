import { EyeIcon, EyeOffIcon } from './icons.tsx'
import type { Words } from './words.ts'

/**
 * The only script of sign-in pages, which their policy allows by its hash. Passwords are hidden again
 * when the form is sent, so that browsers keep them as passwords.
 */
export const REVEAL_SCRIPT = `for (const button of document.querySelectorAll('[data-reveal]')) {
  const input = button.previousElementSibling
  const show = (isShown) => {
    input.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', isShown)
  }
  button.hidden = false
  button.addEventListener('click', () => {
    show(input.type === 'password')
    input.focus()
  })
  input.form.addEventListener('submit', () => show(false))
}`

/** Shows the password in the input before it. Hidden without scripts. */
export const Reveal = ({ words }: { words: Words }) => (
  <button
    type="button"
    class="reveal"
    aria-label={words.showPassword}
    aria-pressed="false"
    data-reveal
    hidden
  >
    <EyeIcon />
    <EyeOffIcon />
  </button>
)

/** Not escaped, which would change its hash. */
export const RevealScript = () => <script dangerouslySetInnerHTML={{ __html: REVEAL_SCRIPT }} />
