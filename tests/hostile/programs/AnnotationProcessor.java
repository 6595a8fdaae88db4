// Is a processor of annotations, declared as one, which a compiler would run. That processing is off must stop it.
import java.util.*;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;
public class AnnotationProcessor extends AbstractProcessor {
  public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) { throw new Error("the processor runs"); }
  public static void main(String[] args) { System.out.println("done"); }
}
