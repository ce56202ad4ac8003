/** Scripts for browsers, imported as text like style sheets. */
declare module '*/assets/console.js' {
  const text: string
  export default text
}
declare module '*/assets/reference.js' {
  const text: string
  export default text
}
declare module '*/htmx.min.js' {
  const text: string
  export default text
}
declare module '*/hx-sse.min.js' {
  const text: string
  export default text
}

/** Fonts, imported as the path of an embedded file. */
declare module '*.woff2' {
  const path: string
  export default path
}
