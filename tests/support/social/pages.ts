/** A page with one form, for people, browsers and `walk`. */
export function formPage(of: {
  title: string
  action: string
  text?: string
  fields?: Record<string, string>
  buttons?: Record<string, string>
}): string {
  const inputs = Object.entries(of.fields ?? {}).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  )
  const buttons = Object.entries(of.buttons ?? {}).map(
    ([value, label]) => `<button name="decision" value="${value}">${label}</button>`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(of.title)}</title></head>
<body>
<h1>${escaped(of.title)}</h1>
<p>${escaped(of.text ?? '')}</p>
<form method="post" action="${escaped(of.action)}">
${[...inputs, ...buttons].join('\n')}
</form>
</body>
</html>`
}

/** Asks the user of an account whether they agree. */
export const consentPage = (title: string, action: string, { name }: { name: string }): string =>
  formPage({
    title,
    action,
    text: `Signed in as ${name}`,
    buttons: { allow: 'Continue', deny: 'Cancel' },
  })

const escaped = (text: string) => Bun.escapeHTML(text)
